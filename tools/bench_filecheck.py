#!/usr/bin/env python3
"""Time our FileCheck against LLVM's, both as whole processes, alternating, on 4 MB of HLO-like text.

    bench_filecheck.py [--reference FileCheck-19] [--ours 'target/release/hlo-check filecheck'] [--runs N]
                       [--growth]

Prints the least CPU seconds (user + system) of either side and the ratio, for each case with the ratio asked
of it; exits 1 if one is missed. --growth shows our time for 1, 2, 4 and 8 times the input and the checks.
"""
import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile


def make_input(lines, seed=7):
    """HLO-like lines of about 105 bytes, deterministic."""
    r = random.Random(seed)
    ops = ['add', 'multiply', 'dot', 'fusion', 'broadcast', 'all-reduce', 'convert', 'transpose', 'reshape']
    types = ['f32', 'bf16', 's32', 'pred', 'f16']
    out = []
    for i in range(lines):
        shape = '%s[%d,%d]{1,0}' % (r.choice(types), r.choice([8, 64, 128, 1024]), r.choice([16, 256, 4096]))
        op = r.choice(ops)
        out.append('  %%%s.%d = %s %s(%s %%p.%d, %s %%p.%d), metadata={op_name="jit(f)/layer_%d/%s"}' % (
            op, i, shape, op, shape, r.randint(0, i), shape, r.randint(0, i), i % 97, op))
    return out


def spread(lines, count):
    step = max(1, len(lines) // count)
    return [lines[i * step] for i in range(count)]


def literal(lines, n):
    return ['CHECK: ' + line.strip().split(', metadata')[0].replace('{{', '{ {') for line in spread(lines, n)]


def variable(lines, n):
    out = []
    for index, line in enumerate(spread(lines, n)):
        name, rest = line.strip().split(' = ', 1)
        shape, call = rest.split(' ', 1)
        operand = call.split(', metadata')[0].rsplit(' ', 1)[1].rstrip(')')
        number = '[[N%d:[0-9]+]]' % index
        out.append('CHECK: %%%s.%s = {{.*}} %s({{[^ ]+}} [[P%d:%%[^ ,]+]], {{.*}} %s)' % (
            name[1:].split('.')[0], number, call.split('(')[0], index, operand))
        if index % 2:
            out[-1] = out[-1].replace(number, '{{[0-9]+}}')
    return out


def reused(lines, n):
    """A definition and its use in turn."""
    out = []
    for index, line in enumerate(spread(lines, n // 2)):
        name, rest = line.strip().split(' = ', 1)
        out.append('CHECK: [[V:%%%s]] = {{.*}}metadata={op_name="{{[a-z]+}}(f)/layer_[[L:[0-9]+]]/' % name[1:].replace('.', '\\.'))
        out.append('CHECK-SAME: {{[a-z-]+}}"}')
    return out


def dag_literal(lines, n):
    found = spread(lines, n)
    random.Random(3).shuffle(found)
    return ['CHECK-DAG: ' + line.strip().split(', metadata')[0] for line in found]


def dag_regex(lines, n):
    kinds = ['add', 'multiply', 'dot', 'fusion', 'convert']
    return ['CHECK-DAG: %%%s.{{[0-9]+}} = bf16[{{[0-9]+}},4096]{1,0} %s(' % (kinds[i % 5], kinds[i % 5]) for i in range(n)]


def nots(lines, n):
    out = []
    for index, line in enumerate(spread(lines, n // 10)):
        out.append('CHECK: ' + line.strip().split(', metadata')[0])
        out += ['CHECK-NOT: absent-%d-%d' % (index, k) for k in range(10)]
    return out


def failing(lines, n):
    return ['CHECK: ' + lines[len(lines) // 2].strip().split(', metadata')[0], 'CHECK: %nowhere = f32[1,2,3]{2,1,0} add(%a, %b)']


CASES = [('1,000 literal checks', literal, 1000, 2), ('1,000 variable+regex checks', variable, 1000, 10),
         ('1,000 definitions and uses', reused, 1000, 10), ('300 literal DAG', dag_literal, 300, 3),
         ('300 regex DAG, repeated patterns', dag_regex, 300, 50), ('1,000 NOT', nots, 1000, 3), ('failing check with report', failing, 1, 5)]


def cpu(command, folder, environment):
    before = os.times()
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user + after.children_system) - (before.children_user + before.children_system), done.returncode


def fine_cpu(command, folder, environment):
    """CPU seconds with the kernel's precision (os.times only counts ticks)."""
    import resource
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--reference', default='FileCheck-19')
    parser.add_argument('--ours', default='target/release/hlo-check filecheck')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--growth', action='store_true')
    options = parser.parse_args()
    ours = shlex.split(options.ours)
    if os.path.sep in ours[0]:
        ours[0] = os.path.abspath(ours[0])
    environment = {'PATH': os.environ.get('PATH', '')}
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        def write(lines, checks):
            with open(folder + '/input.txt', 'w') as out:
                out.write('\n'.join(lines) + '\n')
            with open(folder + '/check.txt', 'w') as out:
                out.write('\n'.join(checks) + '\n')
        arguments = ['check.txt', '--input-file', 'input.txt']
        lines = make_input(32000)
        for name, make, count, wanted in CASES if not options.growth else []:
            write(lines, make(lines, count))
            best = [float('inf'), float('inf')]
            status = [None, None]
            for run in range(options.runs):
                for side, command in ((0, [options.reference]), (1, ours)):
                    if side == 0 and run and best[0] > 2:
                        continue
                    seconds, status[side] = fine_cpu(command + arguments, folder, environment)
                    best[side] = min(best[side], seconds)
            ratio = best[0] / best[1]
            note = '' if status[0] == status[1] else '  EXIT %s AND %s' % tuple(status)
            if ratio < wanted or note:
                missed = True
            print('%-34s reference %8.4f s  ours %8.4f s  %6.1fx (wanted %dx)%s%s' % (
                name, best[0], best[1], ratio, wanted, '  MISSED' if ratio < wanted else '', note))
            sys.stdout.flush()
        if options.growth:
            for name, make, count, _ in CASES:
                row = []
                for factor in (1, 2, 4, 8):
                    lines = make_input(8000 * factor)
                    write(lines, make(lines, count * factor // 8 or 1))
                    row.append(min(fine_cpu(ours + arguments, folder, environment)[0] for _ in range(options.runs)))
                print('%-34s ' % name + '  '.join('%dx %7.4f s' % (f, s) for f, s in zip((1, 2, 4, 8), row)))
    sys.exit(1 if missed else 0)


if __name__ == '__main__':
    main()
