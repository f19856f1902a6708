//! Loops in vectors of 32 bytes, on processors that have them.
//!
//! The build is for every x86-64, whose vectors have 16 bytes. What is run through [`wide`] is compiled a second time, for
//! AVX2 and for an instruction that counts bits, and this copy is taken where the processor can run it. The compiler
//! neither fuses a multiplication with an addition nor reorders sums, in either copy, so that both give the same bits.
//!
//! Only what is inlined into the closure is compiled again: the closure and the functions it calls are
//! `#[inline(always)]`. As the copy for AVX2 can't be inlined into its caller, the caller's code does not mix with its loops.

/// Whether the processor has vectors of 32 bytes.
#[inline]
pub(crate) fn is_there() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Runs the work, in wide vectors if the processor has them.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_there() {
        #[target_feature(enable = "avx2,popcnt")]
        fn on_avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        // SAFETY: the processor has AVX2 and counts bits, all that the function asks for.
        return unsafe { on_avx2(work) };
    }
    plain(work)
}

/// Called, so that loops are apart from their caller here too.
#[inline(never)]
fn plain<R>(work: impl FnOnce() -> R) -> R {
    work()
}
