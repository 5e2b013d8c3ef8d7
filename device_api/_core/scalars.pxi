# Python scalars on their way into the attributes of a step.

cdef int _encode_scalar(object value, int32_t code, ce.Element *out) except -1:
    """Writes one element of dtype `code`. OverflowError when a whole number does not fit, TypeError when the value
    has no meaning in that dtype."""
    cdef int64_t whole
    cdef bint fits
    if ce.is_floating(code) or code > 15:
        if PyFloat_CheckExact(value):
            out[0] = ce.encode_real(code, PyFloat_AS_DOUBLE(value))
        else:
            out[0] = ce.encode_real(code, float(value))
        return 0
    if ce.is_complex(code):
        if PyComplex_Check(value):
            out[0] = ce.encode_complex(code, PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value))
        else:
            out[0] = ce.encode_complex(code, float(value), 0.0)
        return 0
    if code == ce.BOOL:
        ce.encode_unsigned(6, 1 if value else 0, out)
        return 0
    number = int(value)
    try:
        whole = number
        fits = ce.encode_signed(code, whole, out)
    except OverflowError:
        fits = 0 <= number < 2**64 and ce.encode_unsigned(code, <uint64_t> number, out)
    if not fits:
        raise OverflowError(f"the Python integer {value} does not fit into {_DTYPES[code].name}")
    return 0
