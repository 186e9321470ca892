// SPDX-License-Identifier: Apache-2.0
#pragma once
// Complex Fourier transforms in shared memory, in place, by the threads of a block
// (docs/decisions/own-fft.md). A length n = r1 r2 ... has a stage for each radix. A stage replaces each set of
// r elements at equal distance by its transform, in registers. Forward stages (decimation in frequency) have
// the distances n / r1, n / (r1 r2), ..., 1. They leave frequency q1 + r1 q2 + r1 r2 q3 + ... at position
// q1 n / r1 + q2 n / (r1 r2) + .... Inverse stages (decimation in time) undo them from the innermost stage,
// distance 1, to the outermost. No stage moves elements, so each needs one barrier. The host chooses the
// radices and computes the tables (fft_plan.h).

#include "spng/kernels/block_reduction.cuh"

#ifdef SPNG_KERNEL_EMULATION
#define SPNG_UNROLL _Pragma("GCC unroll 16")
#define SPNG_KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define SPNG_UNROLL _Pragma("unroll")
#define SPNG_KEEP_LOOP _Pragma("unroll 1")
#endif

/// Transforms need registers for their elements: three blocks per multiprocessor leave each thread 80, two 128.
#define SPNG_FFT_KERNEL(blocks)                                                                              \
    extern "C" __global__ void __launch_bounds__(::spng::kernels::block_threads, blocks)

namespace spng::kernels {

/// Layout of c10::complex; one access of 8 or 16 bytes.
template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
    Real re, im;
};

SPNG_DEVICE float multiply_add(float a, float b, float c) {
    return fmaf(a, b, c);
}
SPNG_DEVICE double multiply_add(double a, double b, double c) {
    return fma(a, b, c);
}

template <class Real>
SPNG_DEVICE Complex<Real> operator+(const Complex<Real>& a, const Complex<Real>& b) {
    return {a.re + b.re, a.im + b.im};
}
template <class Real>
SPNG_DEVICE Complex<Real> operator-(const Complex<Real>& a, const Complex<Real>& b) {
    return {a.re - b.re, a.im - b.im};
}
template <class Real>
SPNG_DEVICE Complex<Real> operator*(const Complex<Real>& a, const Complex<Real>& b) {
    return {multiply_add(a.re, b.re, -(a.im * b.im)), multiply_add(a.re, b.im, a.im * b.re)};
}
template <class Real>
SPNG_DEVICE Complex<Real> scaled(const Complex<Real>& a, Real factor) {
    return {a.re * factor, a.im * factor};
}
template <class Real>
SPNG_DEVICE Complex<Real> conjugate(const Complex<Real>& a) {
    return {a.re, -a.im};
}

/// Sign of the exponent of a transform.
constexpr int forward = -1, inverse = 1;

/// Return direction * i * a.
template <int direction, class Real>
SPNG_DEVICE Complex<Real> quarter_turn(const Complex<Real>& a) {
    return direction == inverse ? Complex<Real>{-a.im, a.re} : Complex<Real>{a.im, -a.re};
}

constexpr int full_turn = 2520; ///< a multiple of all radices and of 4

/// Return the cosine of a part of the first quarter turn that is a fraction of a radix, or its complement to a quarter.
SPNG_DEVICE constexpr double cosine_in_first_quarter(int turn) {
    switch (turn) {
    case 0:
        return 1;
    case 70:
        return 0.984807753012208;
    case 90:
        return 0.9749279121818236;
    case 126:
        return 0.9510565162951535;
    case 140:
        return 0.9396926207859084;
    case 180:
        return 0.9009688679024191;
    case 210:
        return 0.8660254037844386;
    case 252:
        return 0.8090169943749475;
    case 270:
        return 0.7818314824680298;
    case 280:
        return 0.766044443118978;
    case 315:
        return 0.7071067811865476;
    case 350:
        return 0.6427876096865394;
    case 360:
        return 0.6234898018587335;
    case 378:
        return 0.5877852522924731;
    case 420:
        return 0.5;
    case 450:
        return 0.4338837391175581;
    case 490:
        return 0.3420201433256687;
    case 504:
        return 0.30901699437494745;
    case 540:
        return 0.2225209339563144;
    case 560:
        return 0.17364817766693036;
    }
    return 0; // of a quarter
}

/// Return the cosine of a multiple of 1/2520 of a full turn that is a fraction of a radix, or a quarter from
/// one. The argument is a constant after unrolling, and so is the result.
SPNG_DEVICE constexpr double cosine(int turn) {
    turn = (turn % full_turn + full_turn) % full_turn;
    turn = turn > full_turn / 2 ? full_turn - turn : turn;
    return turn > full_turn / 4 ? -cosine_in_first_quarter(full_turn / 2 - turn)
                                : cosine_in_first_quarter(turn);
}
SPNG_DEVICE constexpr double sine(int turn) {
    return cosine(turn - full_turn / 4);
}

/// Return a * exp(direction 2 pi i turn / 2520), for constants as above.
template <int direction, class Real>
SPNG_DEVICE Complex<Real> turned(const Complex<Real>& a, int turn) {
    if (turn == 0) {
        return a;
    }
    if (turn == full_turn / 4) {
        return quarter_turn<direction>(a);
    }
    return a * Complex<Real>{static_cast<Real>(cosine(turn)), static_cast<Real>(direction * sine(turn))};
}

SPNG_DEVICE constexpr int smallest_factor(int radix) {
    return radix % 2 == 0 ? 2 : radix % 3 == 0 ? 3 : radix;
}

/// Transform an odd prime count of elements: n and radix - n share their factors.
template <int direction, int radix, class Real>
SPNG_DEVICE void transform_prime(Complex<Real> (&v)[radix]) {
    constexpr int pairs = radix / 2;
    const Complex<Real> first = v[0];
    Complex<Real> sums[pairs], differences[pairs];
    SPNG_UNROLL
    for (int n = 0; n < pairs; ++n) {
        sums[n] = v[n + 1] + v[radix - 1 - n];
        differences[n] = v[n + 1] - v[radix - 1 - n];
        v[0] = v[0] + sums[n];
    }
    SPNG_UNROLL
    for (int k = 1; k <= pairs; ++k) {
        Complex<Real> even = first, odd = {0, 0};
        SPNG_UNROLL
        for (int n = 0; n < pairs; ++n) {
            const int turn = k * (n + 1) * (full_turn / radix);
            const Real c = static_cast<Real>(cosine(turn)), s = static_cast<Real>(sine(turn));
            even = {multiply_add(sums[n].re, c, even.re), multiply_add(sums[n].im, c, even.im)};
            odd = n == 0 ? scaled(differences[n], s)
                         : Complex<Real>{multiply_add(differences[n].re, s, odd.re),
                                         multiply_add(differences[n].im, s, odd.im)};
        }
        odd = quarter_turn<direction>(odd);
        v[k] = even + odd;
        v[radix - k] = even - odd;
    }
}

/// Transform `radix` elements in registers: v_k = sum_n v_n exp(direction 2 pi i k n / radix).
/// @tparam radix  1 to 10
template <int direction, int radix, class Real>
SPNG_DEVICE void transform(Complex<Real> (&v)[radix]) {
    constexpr int rows = smallest_factor(radix), columns = radix / rows;
    if constexpr (radix == 2) {
        const Complex<Real> first = v[0];
        v[0] = first + v[1];
        v[1] = first - v[1];
    } else if constexpr (columns == 1 && radix > 2) {
        transform_prime<direction>(v);
    } else if constexpr (columns > 1) {
        SPNG_UNROLL
        for (int column = 0; column < columns; ++column) {
            Complex<Real> part[rows];
            SPNG_UNROLL
            for (int row = 0; row < rows; ++row) {
                part[row] = v[row * columns + column];
            }
            transform<direction>(part);
            SPNG_UNROLL
            for (int row = 0; row < rows; ++row) {
                v[row * columns + column] = turned<direction>(part[row], row * column * (full_turn / radix));
            }
        }
        Complex<Real> result[radix];
        SPNG_UNROLL
        for (int row = 0; row < rows; ++row) {
            Complex<Real> part[columns];
            SPNG_UNROLL
            for (int column = 0; column < columns; ++column) {
                part[column] = v[row * columns + column];
            }
            transform<direction>(part);
            SPNG_UNROLL
            for (int column = 0; column < columns; ++column) {
                result[row + rows * column] = part[column];
            }
        }
        SPNG_UNROLL
        for (int k = 0; k < radix; ++k) {
            v[k] = result[k];
        }
    }
}

/// Plan of the host (FftPlan) as seen by a kernel.
template <class Real>
struct FftTables {
    unsigned length;
    Index radices; ///< of at least two stages, four bits each, the outermost stage in the lowest ones
    const Complex<Real>* twiddles;
};

/// One stage of a transform.
template <class Real>
struct FftStage {
    int shift;                     ///< of its radix in FftTables::radices
    unsigned radix, distance;      ///< distance: of the elements that are transformed together
    const Complex<Real>* twiddles; ///< exp(-2 pi i j q / (radix * distance)), (q - 1, j), q = 1 .. radix - 1

    SPNG_DEVICE bool is_outermost() const { return shift == 0; }
};

/// Transforms of the same length side by side in shared memory: element e of all columns, then element e + 1.
/// Each thread works in one column.
template <class Real, unsigned columns>
class BlockFft {
public:
    static_assert(block_threads % columns == 0, "a thread stays in its column");
    using Value = Complex<Real>;
    using Stage = FftStage<Real>;

    /// @param data  tables.length * columns elements
    SPNG_DEVICE BlockFft(const FftTables<Real>& tables, const SharedArray<Value>& data)
        : m_tables(tables), m_data(data) {}

    static SPNG_DEVICE unsigned column() { return threadIdx.x % columns; }
    SPNG_DEVICE Value get(unsigned element) const { return m_data[element * columns + column()]; }
    SPNG_DEVICE void set(unsigned element, const Value& value) const {
        m_data[element * columns + column()] = value;
    }

    SPNG_DEVICE bool is_innermost(const Stage& stage) const { return radix_at(stage.shift + 4) == 0; }
    SPNG_DEVICE Stage outermost() const {
        const unsigned radix = radix_at(0);
        return {0, radix, m_tables.length / radix, m_tables.twiddles};
    }
    SPNG_DEVICE Stage inside(const Stage& stage) const {
        const unsigned radix = radix_at(stage.shift + 4);
        return {stage.shift + 4, radix, stage.distance / radix,
                stage.twiddles + (stage.radix - 1) * stage.distance};
    }
    SPNG_DEVICE Stage outside(const Stage& stage) const {
        const unsigned radix = radix_at(stage.shift - 4), distance = stage.distance * stage.radix;
        return {stage.shift - 4, radix, distance, stage.twiddles - (radix - 1) * distance};
    }
    SPNG_DEVICE Stage innermost() const {
        Stage stage = outermost();
        while (!is_innermost(stage)) {
            stage = inside(stage);
        }
        return stage;
    }

    /// Do one stage in one direction.
    /// @param load   returns an element; get() reads shared memory
    /// @param store  takes an element and its value; set() writes shared memory
    template <int direction, class Load, class Store>
    SPNG_DEVICE void apply(const Stage& stage, const Load& load, const Store& store) const {
        each_set<max_radix>(stage, load, store, OneWay<direction>{stage});
    }

    /// Do the innermost stage forward, multiply each element, and do the stage's inverse, in shared memory.
    /// @param factor  returns the factor of an element
    template <class Factor>
    SPNG_DEVICE void convolve(const Stage& stage, const Factor& factor) const {
        each_set<max_inner_radix>(
            stage, [&](unsigned element) { return get(element); },
            [&](unsigned element, const Value& value) { set(element, value); }, ThereAndBack<Factor>{factor});
    }

private:
    template <int direction>
    struct OneWay {
        const Stage& stage;

        template <int radix>
        SPNG_DEVICE void operator()(Value (&values)[radix], unsigned /*first*/, unsigned offset) const {
            if constexpr (direction == forward) {
                transform<forward>(values);
            }
            if (stage.distance > 1) {
                SPNG_UNROLL
                for (int q = 1; q < radix; ++q) {
                    const Value twiddle = stage.twiddles[(q - 1) * stage.distance + offset];
                    values[q] = values[q] * (direction == forward ? twiddle : conjugate(twiddle));
                }
            }
            if constexpr (direction == inverse) {
                transform<inverse>(values);
            }
        }
    };

    template <class Factor>
    struct ThereAndBack {
        const Factor& factor;

        template <int radix>
        SPNG_DEVICE void operator()(Value (&values)[radix], unsigned first, unsigned /*offset*/) const {
            transform<forward>(values);
            SPNG_UNROLL
            for (int q = 0; q < radix; ++q) {
                values[q] = values[q] * factor(first + q);
            }
            transform<inverse>(values);
        }
    };

    SPNG_DEVICE unsigned radix_at(int shift) const {
        return static_cast<unsigned>(m_tables.radices >> shift) & 15;
    }

    /// Change the sets of a stage whose radix is at most `radix`.
    template <int radix, class Load, class Store, class Change>
    SPNG_DEVICE void each_set(const Stage& stage, const Load& load, const Store& store,
                              const Change& change) const {
        if (stage.radix == radix) {
            each_set_of<radix>(stage, load, store, change);
        } else if constexpr (radix > 1) {
            each_set<radix - 1>(stage, load, store, change);
        }
    }

    template <int radix, class Load, class Store, class Change>
    SPNG_DEVICE void each_set_of(const Stage& stage, const Load& load, const Store& store,
                                 const Change& change) const {
        const unsigned sets = m_tables.length / radix;
        SPNG_KEEP_LOOP
        for (unsigned set = threadIdx.x / columns; set < sets; set += block_threads / columns) {
            const unsigned offset = set % stage.distance;
            const unsigned first = (set - offset) * radix + offset;
            Value values[radix];
            SPNG_UNROLL
            for (int q = 0; q < radix; ++q) {
                values[q] = load(first + q * stage.distance);
            }
            change(values, first, offset);
            SPNG_UNROLL
            for (int q = 0; q < radix; ++q) {
                store(first + q * stage.distance, values[q]);
            }
        }
    }

    FftTables<Real> m_tables;
    SharedArray<Value> m_data;
};

} // namespace spng::kernels
