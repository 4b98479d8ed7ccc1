//! LLVM's FileCheck: directives, patterns, matcher, report. Knows nothing of HLO.
