//! Reading tables.
