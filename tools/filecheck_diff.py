#!/usr/bin/env python3
"""Compare our FileCheck with LLVM's on random check files and inputs.

    filecheck_diff.py --reference FileCheck-19 --ours target/release/hlo-check [--kind K] [--pairs N]
                      [--seed S] [--jobs J] [--out FILE] [--keep N]

Pair number i of seed S is the same on every machine: it is drawn from Random("S/i"). --kind mixed
draws whole check files, --kind regex only regular expressions. Exit status and
standard error must agree byte for byte (the command's name aside). Pairs on which the reference crashes
or runs out of time count apart. Prints the shares of exit statuses and of each feature; exits 1 on any
disagreement, or when a feature or an exit status is rarer than promised. Disagreements go to --out as
JSON lines; `--replay FILE` runs such a file again. Seeds known to be worth repeating are in
filecheck_diff_seeds.txt, one `kind seed first last` per line (`--seeds FILE`).
"""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading

WORDS = ['a', 'b', 'ab', 'abc', 'foo', 'Foo', 'bar', 'add.1', '%x', 'f32[4]', '{1,0}', '[', ']', '(', ')', '$',
         '^', '*', '|', '\\', '0x1F', '0xab', '12', '7', '-3', '007', 'FF', 'ff', '1', '2', '3', '10', '4294967296',
         '18446744073709551616', '99999999999999999999', '=', ',', 'CHECK', 'x_y', '#', '"q"', "it's", '}}', '{{', ']]']
NUMBERS = ['1', '2', '3', '7', '10', '12', '007', '-3', 'ff', 'FF', '0xab', '0x1F', '99999999999999999999']
SAFE_REGEX = ['.*', '.+', '[a-z]+', '[0-9]+', '[^ ]+', '[[:alpha:]]+', '[[:space:]]*', '(a|b)+', 'fo*', 'a?b*', '.', '[a-f0-9]*',
              '(a|ab)(c|bcd)?', 'f32|f64|[a-z]+', '^.*', '.*$', '[]a]+', '[^]]*', '[[.hyphen.]0-9]+', '(foo|bar)',
              '([a-z])([a-z])*', '[[:<:]]a', 'b[[:>:]]', 'a{1,3}', '(ab){0,2}', '[a-c]{2}', 'x{0}y|a', '[.]', '\\.', '(a*)*', '(a*)+',
              '(a|b|ab)*', '[%a-z0-9_.]+']
BAD_REGEX = ['*', '', '(', ')', 'a**', 'a+?', '(?:a)', '|a', 'a|', '[', '[z-a]', '[[:foo:]]', 'a{2,1}', 'a{256}', '\\', 'a{1', '\\1',
             '[[.foo.]]', '()|', 'a{0}', '^*', '[a-', '+a', '{1}', 'a{1}{2}', '[[=a]', '(a))', '[[:alpha:]', '\\2(a)']
MODS = ['NEXT', 'SAME', 'NOT', 'DAG', 'LABEL', 'EMPTY', 'COUNT']
VARS = ['V', 'W', '$G', 'X_1', '_v']
NUMS = ['N', 'M', '$H', 'K']


class Pair:
    def __init__(self, seed, index):
        self.r = random.Random('%s/%d' % (seed, index))
        self.features = set()
        self.args, self.env = [], {}
        self.strings, self.numbers = [], []
        self.prefixes, self.comments = ['CHECK'], ['COM', 'RUN']
        self.wild = self.r.random() < 0.25
        # Mostly patterns that do match, so that successful runs are common too.
        self.tame = not self.wild and self.r.random() < 0.55
        self.bound = {}
        self.lines = self.make_input()
        self.options()
        self.check = self.make_check()
        self.input = self.finish_input()

    def chance(self, p):
        return self.r.random() < p

    def feature(self, name):
        self.features.add(name)

    # Input.
    def make_line(self):
        r = self.r
        if self.chance(0.08):
            return ''
        count = r.randint(1, 6)
        return r.choice([' ', ' ', ' ', '', '  ', '\t']).join(r.choice(WORDS[:38] if self.chance(.97) else WORDS) for _ in range(count))

    def make_input(self):
        lines = [self.make_line() for _ in range(self.r.randint(1, 10))]
        if self.chance(0.3):
            lines += [self.r.choice(lines) for _ in range(self.r.randint(1, 4))]
        return lines

    def finish_input(self):
        if self.chance(0.02):
            self.feature('input:empty')
            return b''
        text = '\n'.join(self.lines)
        if self.chance(0.9):
            text += '\n'
        data = text.encode('latin-1')
        if self.chance(0.03):
            self.feature('input:crlf')
            data = data.replace(b'\n', b'\r\n')
        if self.chance(0.03):
            self.feature('input:bytes')
            at = self.r.randint(0, len(data))
            data = data[:at] + self.r.choice([b'\0', b'\xff', b'\xc3\xa9', b'\r', b'\x0b', b'\x80\x81']) + data[at:]
        return data

    # Options.
    def options(self):
        r, args = self.r, self.args
        dash = lambda: r.choice(['-', '--'])

        def flag(name, p):
            if self.chance(p):
                self.feature('option:' + name)
                args.append(dash() + name + (r.choice(['=true', '=1']) if self.chance(.05) else ''))
        flag('strict-whitespace', .05)
        flag('match-full-lines', .06)
        flag('ignore-case', .06)
        flag('allow-empty', .04)
        flag('allow-unused-prefixes', .04)
        flag('allow-deprecated-dag-overlap', .04)
        flag('enable-var-scope', .06)
        flag('v', .05)
        flag('vv', .06)
        flag('color', .04)

        def value(name, text):
            self.feature('option:' + name)
            if self.chance(.5):
                args.append(dash() + name + '=' + text)
            else:
                args.extend([dash() + name, text])
        if self.chance(.08):
            self.prefixes = [r.choice(['FOO', 'CHK', 'A', 'CHECK-X', 'a_b', 'B1', 'Zed', '1st', '-p']) for _ in range(r.choice([1, 1, 1, 2]))]
            if len(self.prefixes) == 1 or self.chance(.3):
                for prefix in self.prefixes:
                    value('check-prefix', prefix)
            else:
                value('check-prefixes', ','.join(self.prefixes))
        elif self.chance(.06):
            self.prefixes = r.sample(['FOO', 'CHK', 'CHECK', 'FOOB', 'CHECK-DAG'], r.choice([1, 1, 2, 2, 3]))
            value('check-prefixes', ','.join(self.prefixes))
        if self.chance(.04):
            self.comments = r.sample(['COM', 'NOTE', 'RUN', 'X'], r.randint(1, 2))
            value('comment-prefixes', ','.join(self.comments))
        for _ in range(r.randint(1, 2) if self.chance(.07) else 0):
            value('implicit-check-not', self.pattern_text() if self.chance(.3) else r.choice(['zzz', 'q{{[0-9]}}', 'foo', '{{(}}', '[[V]]']))
        if self.chance(.08):
            self.feature('option:D')
            name = r.choice(VARS)
            args.append(dash() + 'D' + name + '=' + r.choice(WORDS + ['', 'a b', 'x=y']))
            self.strings.append(name)
        if self.chance(.06):
            self.feature('option:D#')
            name = r.choice(NUMS)
            args.append('-D#%s%s=%s' % (r.choice(['', '', '%x,', '%d,']), name, r.choice(['1', '10', '-3', '0x1F', '2+3', 'N+1', 'add(1,2)', '1 - 4', 'zz'])))
            self.numbers.append(name)
        if self.chance(.06):
            value('dump-input', r.choice(['always', 'fail', 'never', 'always']))
        if self.chance(.05):
            value('dump-input-filter', r.choice(['all', 'annotation', 'annotation-full', 'error']))
        if self.chance(.05):
            value('dump-input-context', r.choice(['0', '1', '2', '3', '0x10', '10']))
        if self.chance(.04):
            self.feature('option:FILECHECK_OPTS')
            self.env['FILECHECK_OPTS'] = r.choice(['-v', '-vv', '--color -v', '-dump-input=always', '--ignore-case', '"-dump-input-filter=all"', '-allow-empty  -vv'])
        if self.chance(.012):
            self.feature('option:bad')
            args.append(r.choice(['--nonsense', '--dump-input=foo', '--strict-whitespace=maybe', '-D', '-DX', '-D=1', '--check-prefix=',
                                  '--check-prefix=a b', '--check-prefix=COM', '--comment-prefixes=CHECK', 'extra', '--dump-input-context=-1',
                                  '--dump-input-filter=', '-DV+1=2', '-D@LINE=3', '-D#N', '-D9=1', '-D$=1']))

    # Patterns.
    def regex(self, depth=2):
        r = self.r
        if self.chance(.02):
            self.feature('regex:bad')
            return r.choice(BAD_REGEX)
        if self.chance(.6) or depth == 0:
            return r.choice(SAFE_REGEX)
        kind = r.randint(0, 5)
        if kind == 0:
            return '(' + self.regex(depth - 1) + ')' + r.choice(['', '*', '+', '?', '{1,2}', '{0,1}', '{2}', '{1,}', '{0,}', '{0,3}'])
        if kind == 1:
            return self.regex(depth - 1) + '|' + self.regex(depth - 1)
        if kind == 2:
            return '(' + self.regex(depth - 1) + '|' + r.choice(['a', 'ab', 'foo', '[0-9]', 'b*']) + ')' + r.choice(['', '*', '+', '?'])
        if kind == 3 and self.chance(.4):
            self.feature('regex:backref')
            return '(' + r.choice(['a', 'a*', '[a-z]', '.', '.*', '(a|b)']) + ')' + r.choice(['', 'b*', '.*', ' ']) + '\\' + r.choice('1112') + r.choice(['', '+', '*'])
        return self.regex(depth - 1) + self.regex(depth - 1)

    def number_block(self, word):
        r = self.r
        self.feature('numeric')
        hexa = any(c in 'abcdef' for c in word)
        upper = any(c in 'ABCDEF' for c in word)
        fmt = '%x' if hexa else '%X' if upper else '%d' if word.startswith('-') else r.choice(['%u', '%u', '%d', '%x', '%X'])
        if word.startswith('0x'):
            fmt = '%#' + fmt[1:]
        elif self.chance(.08):
            fmt = '%.' + r.choice('123') + fmt[1:]
        if self.chance(.03):
            fmt = r.choice(['%#u', '%c', '%hhd', 'x', '%', '%.', '%.2', '%#', '%#.3x', '%.3#x'])
        explicit = fmt + r.choice([',', ', ', ' ,']) if self.chance(.6) or fmt not in ('%u',) else ''
        space = lambda: r.choice(['', '', ' '])
        what = r.random()
        if self.numbers and what < .45:
            return '[[#' + space() + (explicit if self.chance(.3) else '') + r.choice(['', '', '==', '== ']) + self.expression() + space() + ']]'
        if what < .5:
            return '[[#' + explicit + space() + ']]'
        fresh = [name for name in NUMS if name not in self.numbers]
        name = r.choice(fresh) if fresh and self.chance(.9) else r.choice(NUMS)
        if self.chance(.05):
            return '[[#%s%s:%s%s]]' % (explicit, name, r.choice(['', '==', ' ']), self.expression())
        self.numbers.append(name)
        return '[[#%s%s%s%s:%s]]' % (space(), explicit, name, space(), space())

    def expression(self, depth=2):
        r = self.r
        if depth == 0 or self.chance(.4):
            return r.choice(self.numbers * 3 + ['1', '2', '10', '0x1F', '-1', '@LINE'] + (['UNDEF', '010', '0b11', '99999999999999999999', 'V', '@X', '', '1x'] if self.chance(.15) else []))
        kind = r.random()
        if kind < .5:
            return self.expression(depth - 1) + r.choice([' + ', '+', '-', ' - ']) + self.expression(depth - 1)
        if kind < .6:
            return '(' + self.expression(depth - 1) + ')'
        if kind < .62:
            return r.choice(['1 * 2', '(1', '1)', 'foo(1,2)', 'add(1)', 'add(1,2,3)', 'add(,1)', 'add(1,)', 'N M', '+1', '1 +'])
        return r.choice(['add', 'sub', 'mul', 'div', 'max', 'min']) + '(' + self.expression(depth - 1) + r.choice([',', ', ', ' ,']) + self.expression(depth - 1) + ')'

    def string_block(self, word):
        r = self.r
        self.feature('string')
        if self.strings and self.chance(.5):
            return '[[' + r.choice(self.strings) + ']]'
        if self.chance(.04):
            return r.choice(['[[UNDEF]]', '[[9]]', '[[]]', '[[ V]]', '[[V :a]]', '[[@LINE:a]]', '[[V+1]]', '[[V:', '[[V', '[[V:a]b]]', '[[V:[a]]',
                             '[[[V:a]]]', '[[$:a]]', '[[@]]', '[[V:]]', '[[V:(]]'])
        name = r.choice(VARS)
        self.strings.append(name)
        return '[[%s:%s]]' % (name, self.regex(1) if self.chance(.5) else r.choice(['.*', '[^ ]+', '[a-z]+', '.']))

    def tame_word(self, word, p):
        name = self.r.choice(VARS)
        if p < .1:
            self.feature('regex')
            return self.r.choice(['{{.*}}', '{{[^ ]+}}', '{{.+}}', '{{(.|a)+}}', '{{[^ ]*}}'])
        if p < .2 and word in self.bound.values():
            self.feature('string')
            return '[[' + [name for name, value in self.bound.items() if value == word][0] + ']]'
        if p < .3 and name not in self.bound and name not in self.strings:
            self.feature('string')
            self.bound[name] = word
            self.strings.append(name)
            return '[[' + name + ':' + self.r.choice(['[^ ]+', '[^ ]*', '.*', '.+']) + ']]'
        if p < .5 and word in ('1', '2', '3', '7', '10', '12', '007', '4294967296', '18446744073709551616'):
            return self.number_block(word) if p < .35 else '[[#]]'
        return word

    def pattern_text(self, line=None):
        r = self.r
        if line is None:
            line = r.choice(self.lines)
        words = line.split(' ')
        first = r.randint(0, len(words) - 1) if self.chance(.5) else 0
        last = r.randint(first, len(words) - 1) if self.chance(.5) else len(words) - 1
        out = []
        for word in words[first:last + 1]:
            p = r.random()
            if self.tame:
                out.append(self.tame_word(word, p))
            elif word.strip('-') in [n.strip('-') for n in NUMBERS] and p < .5:
                out.append(self.number_block(word))
            elif p < .12:
                out.append(self.string_block(word))
            elif p < .24:
                self.feature('regex')
                regex = self.regex()
                if regex.endswith('}') and not self.chance(.05):
                    regex = '(' + regex + ')'
                out.append('{{' + regex + '}}')
            elif p < .27:
                self.feature('line')
                out.append(r.choice(['[[@LINE]]', '[[@LINE+1]]', '[[@LINE-2]]', '[[#@LINE]]', '[[# @LINE + 1 ]]', '[[@LINE+1+1]]', '[[@LINE+0x1]]', '[[@LIN]]', '[[@LINE*2]]']
                                    if self.chance(.2) else ['[[@LINE]]', '[[@LINE+1]]', '[[#@LINE-1]]', '[[#@LINE]]']))
            elif p < .30 and self.wild:
                out.append(r.choice(WORDS))
            else:
                out.append(word)
        text = r.choice([' ', ' ', ' ', ' ', '  ']).join(out)
        if self.wild and self.chance(.1):
            text = text + r.choice(['{{', '[[', '{{}}', ' zz', '{{.*}}', '{{$}}', '{{\\n}}', '[[]]', '  '])
        if self.chance(.05):
            text = '{{^}}' + text
        return text

    # Check file.
    def make_check(self):
        r = self.r
        lines, at, positive = [], 0, False
        count = r.choice([1, 2, 2, 3, 3, 4, 5, 7])
        for number in range(count):
            prefix = r.choice(self.prefixes)
            directive = 'PLAIN' if self.chance(.5 if self.tame else .3) else r.choice(MODS + ['DAG', 'DAG', 'NOT', 'NEXT', 'NEXT', 'SAME'])
            if not positive and directive in ('NEXT', 'SAME', 'EMPTY') and not self.chance(.02):
                directive = 'PLAIN'
            positive = positive or directive not in ('NOT', 'DAG')
            if directive in ('NEXT', 'EMPTY') and not self.chance(.1):
                # Let it follow the line before it.
                step = 1 if number else 0
            else:
                step = r.randint(1 if self.tame and number else 0, 2)
            if directive == 'SAME':
                step = 0
            self.feature('directive:' + directive)
            previous, at = at, min(at + step, len(self.lines) - 1)
            line = self.lines[at]
            if directive == 'NOT':
                at = previous
                text = 'zz' if self.tame else self.pattern_text('zz ' + r.choice(WORDS)) if self.chance(.8) else self.pattern_text()
            elif directive == 'EMPTY':
                while self.chance(.9) and at < len(self.lines) and self.lines[at] != '':
                    at += 1
                at = min(at, len(self.lines) - 1)
                text = '' if self.chance(.97) else 'x'
            elif directive == 'SAME':
                text = self.pattern_text(' '.join(line.split(' ')[1:]) or line)
            elif directive == 'LABEL' and not self.chance(.03):
                text = r.choice(line.split(' ')) or 'a'
            else:
                text = self.pattern_text(line)
            suffix = '' if directive == 'PLAIN' else '-' + directive
            if directive == 'COUNT':
                suffix += '-' + (r.choice(['0', '-1', 'x', '', '2147483648', '1x']) if self.chance(.03) else r.choice(['1', '1', '2', '02', '3']))
            modifier = ''
            if self.chance(.05):
                self.feature('modifier:LITERAL')
                modifier = r.choice(['{LITERAL}', '{LITERAL}', '{LITERAL,LITERAL}', '{ LITERAL }', '{LITERAL , LITERAL}']) if self.chance(.95) else r.choice(['{FOO}', '{}', '{LITERAL', '{LITERAL,}'])
                if self.chance(.5):
                    text = r.choice([line, 'a[[', '{{', '[', text]) or 'a'
            if self.chance(.008):
                self.feature('directive:bad')
                suffix = r.choice(['_NEXT', '_NOT', '_DAG', '-NOT-NEXT', '-DAG-NOT', '-FOO', '_FOO', '-NOT-DAG', '_COUNT-2', '-SAME-NOT', 'NEXT'])
            if directive != 'EMPTY' and not text.strip(' \t') and self.chance(.95):
                text = r.choice(['a', 'foo', '{{.*}}'])
            before = r.choice(['', '', '', '// ', '; ', '# ', ' \t']) if self.chance(.99) else r.choice('x-_')
            colon = ':' if self.chance(.995) else r.choice(['', ' :', '::'])
            lines.append(before + prefix + suffix + modifier + colon + r.choice([' ', ' ', '', '  ', '\t']) + text + r.choice(['', '', '', ' ', '\t']))
            if self.chance(.05):
                self.feature('comment')
                lines.append(r.choice(self.comments) + r.choice([':', ': ', '-NOT: ']) + r.choice(self.prefixes) + ': ' + text)
            if self.chance(.1):
                lines.append(r.choice(['', 'text', prefix, prefix + ' : x', 'X' + prefix + ': a', prefix + '-', 'RUN: x']))
        text = '\n'.join(lines)
        if self.chance(.93):
            text += '\n'
        data = text.encode('latin-1')
        if self.chance(.02):
            self.feature('check:crlf')
            data = data.replace(b'\n', b'\r\n')
        return data

    def request(self):
        return {'args': self.args + ['check.txt', '--input-file', 'input.txt'], 'env': self.env,
                'files': {'check.txt': self.check.decode('latin-1'), 'input.txt': self.input.decode('latin-1')}}


class RegexPair(Pair):
    """Only regular expressions, over few letters, with captures shown by -v."""

    def __init__(self, seed, index):
        self.r = random.Random('regex/%s/%d' % (seed, index))
        self.features, self.env = {'regex'}, {}
        r = self.r
        self.args = ['-v', '--dump-input=never'] if r.random() < .8 else ['-vv']
        if r.random() < .1:
            self.args.append('--ignore-case')
        if r.random() < .05:
            self.args.append('--match-full-lines')
        text = ''.join(r.choice('aaabbbcAB \n' if r.random() < .9 else '-_1\xff\0\r') for _ in range(r.randint(0, 40)))
        self.input = (text + r.choice(['\n', ''])).encode('latin-1') or b'a'
        lines = []
        for _ in range(r.randint(1, 3)):
            parts = []
            for name in r.sample(['X', 'Y', 'Z', ''], r.randint(1, 3)):
                regex = self.ere(r.randint(0, 3))
                if name:
                    parts.append('[[%s:%s]]' % (name, regex))
                else:
                    parts.append('{{%s}}' % (regex if not regex.endswith('}') else '(' + regex + ')'))
                if r.random() < .15:
                    parts.append('[[%s]]' % r.choice('XYZ'))
                if r.random() < .2:
                    parts.append(r.choice('abc '))
            kinds = ['', '', '', '-DAG', '-NOT', '-COUNT-2'] + (['-SAME'] if lines else [])
            lines.append('CHECK%s: %s' % (r.choice(kinds), ''.join(parts)))
        text = '\n'.join(lines) + '\n'
        if '\\1' in text:
            # A reference to a group that {0} removes reads stale memory in LLVM.
            text = text.replace('{0}', '{1}')
        self.check = text.encode('latin-1')

    def atom(self):
        r = self.r
        return r.choice(['a', 'b', 'a', 'b', 'c', '.', '.', '[ab]', '[^a]', '[^ab]', 'ab', 'ba', '[[:space:]]', '[[:alpha:]]', '^', '$', '[a-c]', '()',
                         '[[:<:]]', '[[:>:]]', '\\.', '[^[:alpha:]]', 'A', ' '] if r.random() < .97 else ['[', '*', '\\1', '\\2', '[b-a]', '{', 'a{', '}', ']'])

    def ere(self, depth):
        r = self.r
        if depth == 0:
            atom = self.atom()
            if atom == '^' and r.random() < .95:
                return atom
            return atom + r.choice(['', '', '*', '+', '?', '{1,2}', '{2}', '{0,2}', '{1,}', '{2,3}'])
        kind = r.randint(0, 6)
        if kind <= 1:
            return self.ere(depth - 1) + self.ere(depth - 1)
        if kind == 2:
            return '(' + self.ere(depth - 1) + '|' + self.ere(depth - 1) + ')' + r.choice(['', '', '*', '+', '?'])
        if kind == 3:
            return '(' + self.ere(depth - 1) + ')' + r.choice(['*', '+', '?', '{2}', '{1,3}', '{0,1}', '{0,}', '{0}', '{3,}', ''])
        if kind == 4:
            return self.ere(depth - 1) + '|' + self.ere(depth - 1)
        if kind == 5:
            return '(' + self.ere(depth - 1) + ')' + self.ere(depth - 1) + '\\1' + r.choice(['', '*', '+', '{2}'])
        return self.ere(depth - 1)


KINDS = {'mixed': Pair, 'regex': RegexPair}


class Ours:
    """One process of ours that answers requests, a JSON object per line."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, 'batch', 'filecheck'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b'\n')
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer['status'], answer['stdout'], answer['stderr']


def reference(program, request, folder):
    for name, text in request['files'].items():
        with open(os.path.join(folder, name), 'wb') as out:
            out.write(text.encode('latin-1'))
    env = {'PATH': os.environ.get('PATH', '')}
    env.update(request['env'])
    try:
        done = subprocess.run([program] + request['args'], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        return None, '', ''
    stderr = done.stderr.decode('latin-1').replace(program, 'FileCheck')
    return done.returncode, done.stdout.decode('latin-1'), stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--reference', default='FileCheck-19')
    parser.add_argument('--ours', default='target/release/hlo-check')
    parser.add_argument('--pairs', type=int, default=10000)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--seed', default='1')
    parser.add_argument('--kind', choices=sorted(KINDS), default='mixed')
    parser.add_argument('--seeds', help='file of `seed first last` lines to run instead')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--out', default='filecheck_diff.jsonl')
    parser.add_argument('--keep', type=int, default=200, help='disagreements to write at most')
    parser.add_argument('--replay', help='JSON lines of requests to run again')
    options = parser.parse_args()
    options.reference = shutil.which(options.reference) or options.reference
    if options.replay:
        work = [json.loads(line) for line in open(options.replay)]
    elif options.seeds:
        work = [(kind, seed, index) for kind, seed, first, last in (line.split() for line in open(options.seeds) if line.strip())
                for index in range(int(first), int(last))]
    else:
        work = [(options.kind, options.seed, index) for index in range(options.first, options.first + options.pairs)]
    lock, source = threading.Lock(), iter(work)
    statuses, features = collections.Counter(), collections.Counter()
    bad, skipped, total = [], 0, 0

    def worker():
        nonlocal skipped, total
        ours = Ours(options.ours)
        with tempfile.TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None) as folder:
            while True:
                with lock:
                    item = next(source, None)
                if item is None:
                    return
                if isinstance(item, dict):
                    request, used, name = item['request'], (), item['name']
                else:
                    pair = KINDS[item[0]](*item[1:])
                    request, used, name = pair.request(), pair.features, '%s/%s/%d' % item
                theirs = reference(options.reference, request, folder)
                if theirs[0] not in (0, 1, 2):
                    with lock:
                        skipped += 1
                    continue
                got = ours.run(request)
                with lock:
                    total += 1
                    statuses[theirs[0]] += 1
                    features.update(used)
                    if theirs[0] != got[0] or theirs[2] != got[2]:
                        bad.append({'name': name, 'request': request, 'reference': theirs, 'ours': got})
    threads = [threading.Thread(target=worker) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print('pairs %d, disagreements %d (exit status %d), skipped (reference crashed or too slow) %d' % (
        total, len(bad), sum(item['reference'][0] != item['ours'][0] for item in bad), skipped))
    for status in sorted(statuses):
        print('  exit %d: %.1f %%' % (status, 100 * statuses[status] / total))
    rare = []
    for name, count in sorted(features.items()):
        share = 100 * count / total
        print('  %-40s %.2f %%' % (name, share))
        if share < 1 and name.split(':')[0] in ('directive', 'modifier', 'option') and not name.endswith(':bad'):
            rare.append(name)
    with open(options.out, 'w') as out:
        for item in bad[:options.keep]:
            out.write(json.dumps(item) + '\n')
    enough = total < 1000 or (statuses[0] >= .25 * total and statuses[1] >= .25 * total and statuses[2] >= .05 * total)
    if options.kind == 'mixed' and not options.replay and not options.seeds and (rare or not enough):
        print('coverage falls short:', ', '.join(rare) or 'exit statuses')
        sys.exit(1)
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
