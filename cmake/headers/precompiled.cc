// Owns a precompiled header.
