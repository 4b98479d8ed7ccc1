//! Protobuf's text format: messages as `field: value` and `field { ... }`, by the table of messages.

mod parse;
mod print;

pub(super) use parse::{container_of, parse_message, starts_message};
pub(super) use print::print_message;

/// How deeply messages may be nested in each other, whatever their types: modules, computations, instructions and what
/// is in those.
const MAX_DEPTH: usize = super::MAX_PROTO_NESTING + 64;

#[cfg(test)]
mod tests {
    use super::super::schema::{hlo_module_proto, op_sharding};
    use super::*;

    fn round_trip(text: &str) -> String {
        let bytes = parse_message(text, &hlo_module_proto::MESSAGE).expect("well formed");
        let mut out = Vec::new();
        print_message(&mut out, &bytes, &hlo_module_proto::MESSAGE).expect("well formed");
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn messages_survive() {
        let text = "\
name: \"a\\\"b\\\\\\n\\001\\377\"
computations {
  name: \"c\"
  instructions {
    shape {
      element_type: F32
      dimensions: 2
      dimensions: -3
    }
    metadata {
      profile_info {
        relative_speedup: 0.1
      }
    }
    epsilon: 1.5e-07
    is_stable: true
    99999: 7
    99998: 0x0000000000000001
    99997: \"raw\\001\"
  }
}
id: -1
";
        assert_eq!(round_trip(text), text);
    }

    #[test]
    fn other_spellings_are_read() {
        let text = "# a comment\nname: 'x' \"y\";\nid: 0x10, computations: < name: \"c\" instructions { operand_ids: [1, 2] epsilon: inf } >\nis_dynamic: 1";
        let expected = "name: \"xy\"\nid: 16\ncomputations {\n  name: \"c\"\n  instructions {\n    operand_ids: 1\n    operand_ids: 2\n    epsilon: inf\n  }\n}\nis_dynamic: true\n";
        assert_eq!(round_trip(text), expected);
    }

    #[test]
    fn faults_have_a_place() {
        let fault = |text: &str| {
            let fault = parse_message(text, &hlo_module_proto::MESSAGE).expect_err(text);
            (fault.0, fault.1.into_diagnostic().message)
        };
        assert_eq!(fault("nam: \"x\"").0, 0);
        assert!(fault("nam: \"x\"").1.contains("did you mean `name`?"));
        assert_eq!(fault("id: \"x\"").0, 4);
        assert_eq!(fault("computations {").0, 14);
        assert!(fault("computations { instructions { shape { element_type: F33 } } }").1.contains("F33"));
        assert_eq!(fault("id: 99999999999999999999").0, 4);
        assert_eq!(fault("name: \"x").0, 6);
        assert_eq!(fault("}").0, 0);
    }

    #[test]
    fn nesting_is_bounded() {
        let text = format!("{}{}", "tuple_shardings {".repeat(2000), "}".repeat(2000));
        let fault = parse_message(&text, &op_sharding::MESSAGE).expect_err("too deep");
        assert_eq!(fault.1.kind, super::super::fault::FaultKind::TooDeep);
    }
}
