//! Generates the parser from src/grammar.lalrpop.

fn main() {
    let mut configuration = lalrpop::Configuration::new();
    configuration.emit_rerun_directives(true).use_cargo_dir_conventions();
    if let Err(error) = configuration.process() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
