/// The value of a register or of memory, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Unknown,
    Number(u64),
    /// Argument of the function, given by its index, plus an offset in bytes.
    Argument(u8, i64),
    /// Address on the stack, as the distance in bytes from the return address.
    Stack(i64),
}

impl Value {
    pub(super) fn of(number: Option<u64>) -> Self {
        number.map_or(Self::Unknown, Self::Number)
    }

    /// Returns the number if the value is one.
    pub(super) fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Unknown | Self::Argument(..) | Self::Stack(_) => None,
        }
    }
}

pub(super) fn plus(value: Value, distance: i64) -> Value {
    match value {
        Value::Unknown => Value::Unknown,
        Value::Number(number) => Value::Number(number.wrapping_add_signed(distance)),
        Value::Argument(argument, offset) => Value::Argument(argument, offset.wrapping_add(distance)),
        Value::Stack(at) => Value::Stack(at.wrapping_add(distance)),
    }
}

/// Returns the lowest `bytes` bytes of a number, with the others set to 0.
pub(super) fn cut(number: u64, bytes: usize) -> u64 {
    if bytes >= 8 {
        number
    } else {
        number & ((1 << (8 * bytes)) - 1)
    }
}

/// Sign-extends an integer of `bytes` bytes to 64 bits.
pub(super) fn extended(number: u64, bytes: usize) -> u64 {
    if bytes >= 8 || bytes == 0 {
        return number;
    }
    let unused = 64 - 8 * bytes as u32;
    ((number << unused).cast_signed() >> unused).cast_unsigned()
}
