//! XLA's textual HLO: read it, hold it, write it.
