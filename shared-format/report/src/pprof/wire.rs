//! The part of the Protocol Buffers encoding (version 3) that pprof's messages need.
//!
//! A message is a sequence of fields. Each field is a tag (field number and wire type) followed by a value. Integers are varints:
//! seven bits per byte, lowest bits first. A field that has its default value is not written. A list of integers is packed into
//! one field.
//!
//! | wire type | value |
//! |--:|---|
//! | 0 | a varint: integers (negative ones as 64-bit two's complement) and booleans |
//! | 2 | a length in bytes as a varint, then the bytes: strings, messages, lists of integers |

const VARINT: u64 = 0;
const BYTES: u64 = 2;

/// A type that a field of a message may have.
pub(super) trait Field {
    /// Appends the field, or nothing if it has its default value.
    fn write(&self, number: u64, out: &mut Vec<u8>);
}

/// A message of the format.
pub(super) trait Message {
    /// Appends all fields.
    fn encode(&self, out: &mut Vec<u8>);
}

/// Declares a struct for each message and implements its encoding. A field is written as `number => name: Type`.
macro_rules! messages {
    ($($(#[$about:meta])* $message:ident {
        $($(#[$about_field:meta])* $number:literal => $field:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Debug, Default)]
            pub(super) struct $message {
                $($(#[$about_field])* pub(super) $field: $type,)*
            }

            impl $crate::pprof::wire::Message for $message {
                fn encode(&self, out: &mut Vec<u8>) {
                    $($crate::pprof::wire::Field::write(&self.$field, $number, out);)*
                }
            }

            impl $crate::pprof::wire::Field for Option<$message> {
                fn write(&self, number: u64, out: &mut Vec<u8>) {
                    self.iter().for_each(|one| $crate::pprof::wire::message(one, number, out));
                }
            }

            impl $crate::pprof::wire::Field for Vec<$message> {
                fn write(&self, number: u64, out: &mut Vec<u8>) {
                    self.iter().for_each(|one| $crate::pprof::wire::message(one, number, out));
                }
            }
        )*
    };
}

pub(super) use messages;

/// Appends a message as a field. An empty message is written too, because it may be an element of a list.
pub(super) fn message(message: &impl Message, number: u64, out: &mut Vec<u8>) {
    let mut body = Vec::new();
    message.encode(&mut body);
    bytes(&body, number, out);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn bytes(bytes: &[u8], number: u64, out: &mut Vec<u8>) {
    varint(number << 3 | BYTES, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn packed(values: impl Iterator<Item = u64>, number: u64, out: &mut Vec<u8>) {
    let mut body = Vec::new();
    values.for_each(|value| varint(value, &mut body));
    if !body.is_empty() {
        bytes(&body, number, out);
    }
}

impl Field for u64 {
    fn write(&self, number: u64, out: &mut Vec<u8>) {
        if *self != 0 {
            varint(number << 3 | VARINT, out);
            varint(*self, out);
        }
    }
}

impl Field for i64 {
    fn write(&self, number: u64, out: &mut Vec<u8>) {
        self.cast_unsigned().write(number, out);
    }
}

impl Field for bool {
    fn write(&self, number: u64, out: &mut Vec<u8>) {
        u64::from(*self).write(number, out);
    }
}

impl Field for Vec<u64> {
    fn write(&self, number: u64, out: &mut Vec<u8>) {
        packed(self.iter().copied(), number, out);
    }
}

impl Field for Vec<i64> {
    fn write(&self, number: u64, out: &mut Vec<u8>) {
        packed(self.iter().map(|value| value.cast_unsigned()), number, out);
    }
}

impl Field for Vec<String> {
    fn write(&self, number: u64, out: &mut Vec<u8>) {
        self.iter().for_each(|text| bytes(text.as_bytes(), number, out));
    }
}
