//! LLVM's lit: discovery, config, RUN lines, scheduler, reports. Knows nothing of HLO.
