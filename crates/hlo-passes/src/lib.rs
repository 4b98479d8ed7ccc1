//! HLO rewrites by registry key.
