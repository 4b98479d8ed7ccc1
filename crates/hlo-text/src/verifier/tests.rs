//! Rules that only a pass can break, and what has no example of its own.
