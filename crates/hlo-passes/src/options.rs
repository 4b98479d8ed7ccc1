//! Typed options of passes: their declaration, and the values of one run.

use std::collections::BTreeMap;

/// The type of an option, with the value it has when it isn't given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionType {
    /// `true` or `false`; the name alone means `true`.
    Flag(bool),
    /// A decimal number.
    Integer(i64),
    /// Text.
    Text(&'static str),
    /// Texts, with commas between.
    List,
}

impl OptionType {
    /// What a value looks like.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Flag(_) => "`true` or `false`",
            Self::Integer(_) => "a number",
            Self::Text(_) => "text",
            Self::List => "texts with commas between",
        }
    }
}

/// An option of a pass.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// How it is spelt.
    pub name: &'static str,
    /// Its type and default.
    pub kind: OptionType,
    /// What it does, one line.
    pub doc: &'static str,
}

/// An option that the original tool takes for all passes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalOption {
    /// How it is spelt on the command line.
    pub name: &'static str,
    /// The option of the passes that it sets.
    pub option: &'static str,
    /// The passes it is for; empty for all that have the option.
    pub passes: &'static [&'static str],
    /// What it takes.
    pub takes: GlobalTakes,
}

/// What a [`GlobalOption`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalTakes {
    /// A value, which is that of the passes' option.
    Value,
    /// `true` (what the name alone means) or `false`.
    Flag,
    /// The same; `true` stands for this value, and `false` leaves the passes' option alone.
    Choice(&'static str),
}

const fn global(name: &'static str, takes: GlobalTakes) -> GlobalOption {
    GlobalOption { name, option: name, passes: &[], takes }
}

/// The options of the original tool's one block, and which option of the passes each sets.
pub const GLOBAL_OPTIONS: &[GlobalOption] = &[
    global("collective-combine-threshold-in-bytes", GlobalTakes::Value),
    global("collective-combine-threshold-count", GlobalTakes::Value),
    global("collective-combine-by-dim", GlobalTakes::Flag),
    global("neuron-fsdp", GlobalTakes::Flag),
    GlobalOption { option: "neuron-fsdp", ..global("coalesce-fsdp", GlobalTakes::Flag) },
    global("run-collective-matmul", GlobalTakes::Flag),
    GlobalOption {
        option: "mode",
        passes: &["partition-embeding-ops"],
        ..global("enable-partition-gather", GlobalTakes::Choice("param"))
    },
    global("override_core_count", GlobalTakes::Value),
    global("while-loop-unroll-factor", GlobalTakes::Value),
    global("native-kernel-cast-type", GlobalTakes::Value),
    global("dynamic-dma-sbuf-bytes", GlobalTakes::Value),
    global("enable-native-kernel-attention", GlobalTakes::Flag),
    global("enable-native-kernel-attention-bf16", GlobalTakes::Flag),
];

impl GlobalOption {
    /// The text that the passes' option gets; `None`: it is left alone.
    ///
    /// # Errors
    /// What it takes instead of `given`.
    pub fn value(&self, given: Option<&str>) -> Result<Option<String>, &'static str> {
        match (self.takes, given) {
            (GlobalTakes::Value, Some(value)) => Ok(Some(value.to_owned())),
            (GlobalTakes::Value, None) => Err("takes a value"),
            (GlobalTakes::Flag, None) => Ok(Some("true".to_owned())),
            (GlobalTakes::Flag, Some(value @ ("true" | "false"))) => Ok(Some(value.to_owned())),
            (GlobalTakes::Choice(value), None | Some("true")) => Ok(Some(value.to_owned())),
            (GlobalTakes::Choice(_), Some("false")) => Ok(None),
            (GlobalTakes::Flag | GlobalTakes::Choice(_), Some(_)) => Err("takes `true` or `false`"),
        }
    }

    /// Whether it is for the pass `key`, which has the options `declared`.
    pub fn is_for(&self, key: &str, declared: &[OptionInfo]) -> bool {
        (self.passes.is_empty() || self.passes.contains(&key))
            && declared.iter().any(|info| info.name == self.option)
    }
}

/// The option for all passes that is spelt `name`; `-` and `_` are the same.
pub fn global_option(name: &str) -> Option<&'static GlobalOption> {
    let plain = |text: &str| text.replace('_', "-");
    GLOBAL_OPTIONS.iter().find(|option| plain(option.name) == plain(name))
}

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OptionValue {
    Flag(bool),
    Integer(i64),
    Text(String),
    List(Vec<String>),
}

/// The options of one run of a pass, defaults filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionValues {
    values: BTreeMap<&'static str, OptionValue>,
}

impl OptionValues {
    /// The values `given` as text, for the options `declared`.
    ///
    /// # Errors
    /// An option doesn't exist, is given twice, or its value has another type.
    pub fn resolve(declared: &'static [OptionInfo], given: &[(String, String)]) -> Result<Self, String> {
        let mut values = BTreeMap::new();
        for (name, text) in given {
            let Some(info) = declared.iter().find(|info| info.name == name) else {
                let names: Vec<&str> = declared.iter().map(|info| info.name).collect();
                let known =
                    match (names.is_empty(), hlo_text::diagnostic::did_you_mean(name, names.iter().copied()))
                    {
                        (true, _) => "it has no options".to_owned(),
                        (false, Some(close)) => format!("did you mean `{close}`?"),
                        (false, None) => format!("it has {}", names.join(", ")),
                    };
                return Err(format!("there is no option `{name}`: {known}"));
            };
            let value = parse_value(info.kind, text)
                .ok_or_else(|| format!("option `{name}` takes {}, not `{text}`", info.kind.describe()))?;
            if values.insert(info.name, value).is_some() {
                return Err(format!("option `{name}` is given twice"));
            }
        }
        for info in declared {
            values.entry(info.name).or_insert_with(|| match info.kind {
                OptionType::Flag(flag) => OptionValue::Flag(flag),
                OptionType::Integer(number) => OptionValue::Integer(number),
                OptionType::Text(text) => OptionValue::Text(text.to_owned()),
                OptionType::List => OptionValue::List(Vec::new()),
            });
        }
        Ok(Self { values })
    }

    /// A flag; `false` if the pass declares no such flag.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(OptionValue::Flag(true)))
    }

    /// A number; 0 if the pass declares no such number.
    pub fn integer(&self, name: &str) -> i64 {
        match self.values.get(name) {
            Some(OptionValue::Integer(number)) => *number,
            _ => 0,
        }
    }

    /// A text; empty if the pass declares no such text.
    pub fn text(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(OptionValue::Text(text)) => text,
            _ => "",
        }
    }

    /// A list; empty if the pass declares no such list.
    pub fn list(&self, name: &str) -> &[String] {
        match self.values.get(name) {
            Some(OptionValue::List(list)) => list,
            _ => &[],
        }
    }
}

fn parse_value(kind: OptionType, text: &str) -> Option<OptionValue> {
    Some(match kind {
        OptionType::Flag(_) => OptionValue::Flag(text.parse().ok()?),
        OptionType::Integer(_) => OptionValue::Integer(text.parse().ok()?),
        OptionType::Text(_) => OptionValue::Text(text.to_owned()),
        OptionType::List => {
            let entries = text.split(',').filter(|entry| !entry.is_empty());
            OptionValue::List(entries.map(str::to_owned).collect())
        }
    })
}

/// A pass of a list, with its options as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassRequest {
    /// The key.
    pub key: String,
    /// Name and text of each option given.
    pub options: Vec<(String, String)>,
}

impl std::fmt::Display for PassRequest {
    /// As [`parse_pass_list`] reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.key)?;
        if self.options.is_empty() {
            return Ok(());
        }
        for (index, (name, value)) in self.options.iter().enumerate() {
            f.write_str(if index == 0 { "{" } else { " " })?;
            let plain = !value.is_empty()
                && !value.contains(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '"' | '\\'));
            if plain {
                write!(f, "{name}={value}")?;
            } else {
                write!(f, "{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))?;
            }
        }
        f.write_str("}")
    }
}

/// Splits a list such as `dce,inline-weights{dir=weights seed=3 targets=a,b}`: commas between passes, blanks between
/// options; values with blanks or braces stand in double quotes, where `\` takes the next character as it is.
/// Empty entries are skipped.
///
/// # Errors
/// A brace or quote is not closed, something follows the options, or nothing is before them.
pub fn parse_pass_list(text: &str) -> Result<Vec<PassRequest>, String> {
    let mut passes = Vec::new();
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        let mut key = String::new();
        while let Some(c) = rest.next_if(|&c| c != ',' && c != '{') {
            key.push(c);
        }
        let key = key.trim().to_owned();
        let mut options = Vec::new();
        if rest.next_if_eq(&'{').is_some() {
            if key.is_empty() {
                return Err("expected the name of a pass before `{`".to_owned());
            }
            options = parse_options(&mut rest, &key)?;
            while rest.next_if(|c| c.is_whitespace()).is_some() {}
            if let Some(&c) = rest.peek()
                && c != ','
            {
                return Err(format!("expected `,` after the options of `{key}`, found `{c}`"));
            }
        }
        rest.next_if_eq(&',');
        if !key.is_empty() {
            passes.push(PassRequest { key, options });
        }
    }
    Ok(passes)
}

/// Takes options up to the closing brace.
fn parse_options(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    key: &str,
) -> Result<Vec<(String, String)>, String> {
    let unclosed = |what: &str| format!("the {what} in the options of `{key}` is not closed");
    let mut options = Vec::new();
    loop {
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        if rest.next_if_eq(&'}').is_some() {
            return Ok(options);
        }
        let mut name = String::new();
        while let Some(c) = rest.next_if(|&c| c != '=' && c != '}' && !c.is_whitespace()) {
            name.push(c);
        }
        if rest.peek().is_none() {
            return Err(unclosed("brace"));
        }
        if rest.next_if_eq(&'=').is_none() {
            options.push((name, "true".to_owned()));
            continue;
        }
        let mut value = String::new();
        let mut quoted = false;
        loop {
            match rest.peek() {
                None if quoted => return Err(unclosed("quote")),
                None => return Err(unclosed("brace")),
                Some('}') if !quoted => break,
                Some(c) if !quoted && c.is_whitespace() => break,
                Some('"') => {
                    quoted = !quoted;
                    rest.next();
                }
                Some('\\') => {
                    rest.next();
                    value.extend(rest.next());
                }
                Some(_) => value.extend(rest.next()),
            }
        }
        options.push((name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[OptionInfo] = &[
        OptionInfo { name: "dir", kind: OptionType::Text("."), doc: "" },
        OptionInfo { name: "seed", kind: OptionType::Integer(7), doc: "" },
        OptionInfo { name: "targets", kind: OptionType::List, doc: "" },
        OptionInfo { name: "fast", kind: OptionType::Flag(false), doc: "" },
    ];

    fn requests(text: &str) -> Vec<(String, Vec<(String, String)>)> {
        let parsed = parse_pass_list(text).expect("well formed");
        parsed.into_iter().map(|request| (request.key, request.options)).collect()
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn lists_are_split_at_commas_outside_options() {
        let given = requests(r#"dce, w{dir=weights seed=3 targets=a,b} ,,x{fast y="a b}\"" z=\ },dce"#);
        let expected = [
            ("dce", vec![]),
            ("w", owned(&[("dir", "weights"), ("seed", "3"), ("targets", "a,b")])),
            ("x", owned(&[("fast", "true"), ("y", "a b}\""), ("z", " ")])),
            ("dce", vec![]),
        ];
        assert_eq!(given, expected.map(|(key, options)| (key.to_owned(), options)));
        assert!(requests("").is_empty());
    }

    #[test]
    fn lists_are_written_as_they_are_read() {
        for text in
            ["a", "a{b=c}", "a{b=true},c", "a{b=\"x y\" c=\"}\" d=\"\"},e{f=\"\\\"\\\\\"}", "a{t=x,y z=1}"]
        {
            let list = parse_pass_list(text).expect("a list");
            let written: Vec<String> = list.iter().map(PassRequest::to_string).collect();
            assert_eq!(written.join(","), text);
        }
    }

    #[test]
    fn faulty_lists_are_refused() {
        for (text, message) in [
            ("a{x", "the brace in the options of `a` is not closed"),
            ("a{x=1", "the brace in the options of `a` is not closed"),
            ("a{x=\"1}", "the quote in the options of `a` is not closed"),
            ("{a=1}", "expected the name of a pass before `{`"),
            ("dce, {}", "expected the name of a pass before `{`"),
            ("a{}b", "expected `,` after the options of `a`, found `b`"),
        ] {
            assert_eq!(parse_pass_list(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn options_have_types_and_defaults() {
        let values =
            OptionValues::resolve(DECLARED, &owned(&[("targets", "a,b"), ("fast", "true")])).expect("good");
        assert_eq!(values.text("dir"), ".");
        assert_eq!(values.integer("seed"), 7);
        assert_eq!(values.list("targets"), ["a", "b"]);
        assert!(values.flag("fast"));
        for (given, message) in [
            (&[("sed", "1")][..], "there is no option `sed`: did you mean `seed`?"),
            (&[("seed", "x")], "option `seed` takes a number, not `x`"),
            (&[("seed", "1"), ("seed", "2")], "option `seed` is given twice"),
            (&[("zzzzzz", "1")], "there is no option `zzzzzz`: it has dir, seed, targets, fast"),
        ] {
            assert_eq!(OptionValues::resolve(DECLARED, &owned(given)), Err(message.to_owned()));
        }
        assert_eq!(
            OptionValues::resolve(&[], &owned(&[("a", "1")])),
            Err("there is no option `a`: it has no options".to_owned())
        );
    }
}
