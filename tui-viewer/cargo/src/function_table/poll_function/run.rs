//! Interprets instructions when only some of their operands are known.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the CPU has hundreds of instructions and registers, and this code knows only the named ones"
)]

use std::collections::HashMap;

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use crate::function_table::linked_symbols::Symbols;
use crate::function_table::poll_function::code::{Code, RESUMED_ELSEWHERE, is_resumed};
use crate::function_table::poll_function::value::{Value, cut, extended, plus};

/// Maximum number of instructions to run, counted from the start of a function.
const STEPS: usize = 200;

/// Number of arguments that may be the future. If the first argument points to the result, the future is the second.
const ARGUMENTS: u8 = 2;

/// Location of a byte: the index of the argument that contains the base address, and the offset in bytes.
pub(super) type Place = (u8, i64);

/// Where a run ended: at the panic for a body that has already returned, or elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Resumed,
    Elsewhere,
}

/// State of the CPU during a run.
pub(super) struct Run<'c> {
    code: &'c Code<'c>,
    symbols: &'c Symbols<'c>,
    registers: [Value; 16],
    /// Values on the stack, each with its size in bytes, by [`Value::Stack`] address.
    stack: HashMap<i64, (Value, usize)>,
    zero: Option<bool>,
    carry: Option<bool>,
    sign: Option<bool>,
    overflow: Option<bool>,
    /// The byte that this run assumes to be the state of the body, and the value that it assumes for that byte.
    state: Option<(Place, u64)>,
    /// Single bytes that the function has read through its arguments, in that order.
    pub(super) read: Vec<Place>,
}

impl<'c> Run<'c> {
    pub(super) fn new(code: &'c Code<'c>, symbols: &'c Symbols<'c>, state: Option<(Place, u64)>) -> Self {
        let mut registers = [Value::Unknown; 16];
        registers[Register::RSP.number()] = Value::Stack(0);
        registers[Register::RDI.number()] = Value::Argument(0, 0);
        registers[Register::RSI.number()] = Value::Argument(1, 0);
        Self {
            code,
            symbols,
            registers,
            stack: HashMap::new(),
            zero: None,
            carry: None,
            sign: None,
            overflow: None,
            state,
            read: Vec::new(),
        }
    }

    pub(super) fn go(&mut self, mut at: u64) -> End {
        for _ in 0..STEPS {
            let Some(bytes) = self.code.at(at) else {
                return End::Elsewhere;
            };
            let instruction = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
            match self.step(&instruction) {
                Some(next) if self.is_resumed(next) => return End::Resumed,
                Some(next) => at = next,
                None => return End::Elsewhere,
            }
        }
        End::Elsewhere
    }

    fn is_resumed(&self, address: u64) -> bool {
        address == RESUMED_ELSEWHERE
            || self
                .symbols
                .at(address)
                .iter()
                .any(|symbol| is_resumed(symbol.name))
    }

    /// Runs an instruction. Returns the address of the next one, or `None` if it is not known.
    fn step(&mut self, instruction: &Instruction) -> Option<u64> {
        let next = instruction.next_ip();
        match instruction.flow_control() {
            FlowControl::Next => {
                self.compute(instruction)?;
                Some(next)
            }
            FlowControl::UnconditionalBranch => Some(instruction.near_branch_target()),
            FlowControl::IndirectBranch => self.operand(instruction, 0).number(),
            FlowControl::ConditionalBranch => {
                let taken = self.holds(instruction.condition_code())?;
                Some(if taken {
                    instruction.near_branch_target()
                } else {
                    next
                })
            }
            // The run ends at a call of anything but the panic, because a poll function calls nothing else on its way
            // there.
            FlowControl::Call => {
                Some(instruction.near_branch_target()).filter(|target| self.is_resumed(*target))
            }
            FlowControl::IndirectCall => {
                let target = self.operand(instruction, 0).number();
                target.filter(|target| self.is_resumed(*target))
            }
            FlowControl::Return
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend
            | FlowControl::Exception => None,
        }
    }

    /// Runs an instruction that is neither a jump nor a call. Returns `None` if its effect is not known.
    fn compute(&mut self, instruction: &Instruction) -> Option<()> {
        use Mnemonic as M;
        match instruction.mnemonic() {
            M::Nop | M::Endbr64 => {}
            M::Mov | M::Movzx => {
                let value = self.operand(instruction, 1);
                self.set(instruction, value);
            }
            M::Movsx | M::Movsxd => {
                let bytes = size_of_operand(instruction, 1);
                let number = self.operand(instruction, 1).number();
                self.set(
                    instruction,
                    Value::of(number.map(|number| extended(number, bytes))),
                );
            }
            M::Lea => {
                let value = self.address(instruction);
                self.set(instruction, value);
            }
            M::Push => {
                let value = self.operand(instruction, 0);
                let top = plus(self.registers[Register::RSP.number()], -8);
                self.registers[Register::RSP.number()] = top;
                self.store(top, value, 8);
            }
            M::Pop => {
                let top = self.registers[Register::RSP.number()];
                let value = self.load(top, 8);
                self.set(instruction, value);
                self.registers[Register::RSP.number()] = plus(top, 8);
            }
            M::Add | M::Sub | M::Cmp | M::Inc | M::Dec => self.add_or_subtract(instruction),
            M::And | M::Test | M::Or | M::Xor => self.combine(instruction),
            M::Bt => {
                let bits = 8 * size_of_operand(instruction, 0) as u64;
                self.forget_flags();
                if let (Value::Number(set), Value::Number(bit)) =
                    (self.operand(instruction, 0), self.operand(instruction, 1))
                {
                    self.carry = Some(set >> (bit % bits) & 1 != 0);
                }
            }
            // Vector registers are not tracked, so these instructions matter only if they write to memory.
            M::Movups | M::Movaps | M::Movdqu | M::Movdqa | M::Movq | M::Movd | M::Xorps | M::Pxor => {
                self.set(instruction, Value::Unknown);
            }
            _ => return None,
        }
        Some(())
    }

    fn add_or_subtract(&mut self, instruction: &Instruction) {
        let mnemonic = instruction.mnemonic();
        let left = self.operand(instruction, 0);
        let right = match mnemonic {
            Mnemonic::Inc | Mnemonic::Dec => Value::Number(1),
            _ => self.operand(instruction, 1),
        };
        let is_sum = matches!(mnemonic, Mnemonic::Add | Mnemonic::Inc);
        let bytes = size_of_operand(instruction, 0);
        let carry = self.carry;
        self.forget_flags();
        let result = match (left, right) {
            (Value::Number(left), Value::Number(right)) => {
                let (left, right) = (cut(left, bytes), cut(right, bytes));
                let result = if is_sum {
                    left.wrapping_add(right)
                } else {
                    left.wrapping_sub(right)
                };
                let result = cut(result, bytes);
                let is_negative = |value: u64| extended(value, bytes) >> 63 != 0;
                self.zero = Some(result == 0);
                self.sign = Some(is_negative(result));
                self.carry = Some(if is_sum { result < left } else { left < right });
                let (a, b, r) = (is_negative(left), is_negative(right), is_negative(result));
                self.overflow = Some(if is_sum {
                    a == b && r != a
                } else {
                    a != b && r != a
                });
                Value::Number(result)
            }
            (place, Value::Number(distance)) if bytes == 8 => {
                let distance = distance.cast_signed();
                plus(place, if is_sum { distance } else { distance.wrapping_neg() })
            }
            (Value::Number(distance), place) if bytes == 8 && is_sum => plus(place, distance.cast_signed()),
            _ => Value::Unknown,
        };
        if matches!(mnemonic, Mnemonic::Inc | Mnemonic::Dec) {
            self.carry = carry;
        }
        if mnemonic != Mnemonic::Cmp {
            self.set(instruction, result);
        }
    }

    fn combine(&mut self, instruction: &Instruction) {
        let mnemonic = instruction.mnemonic();
        let same = instruction.op_kind(0) == OpKind::Register
            && instruction.op_kind(1) == OpKind::Register
            && instruction.op_register(0) == instruction.op_register(1);
        let bytes = size_of_operand(instruction, 0);
        let (left, right) = (self.operand(instruction, 0), self.operand(instruction, 1));
        let result = match (left, right, mnemonic) {
            (_, _, Mnemonic::Xor) if same => Some(0),
            (Value::Number(left), Value::Number(right), Mnemonic::And | Mnemonic::Test) => Some(left & right),
            (Value::Number(left), Value::Number(right), Mnemonic::Or) => Some(left | right),
            (Value::Number(left), Value::Number(right), _) => Some(left ^ right),
            _ => None,
        };
        let result = result.map(|result| cut(result, bytes));
        self.zero = result.map(|result| result == 0);
        self.sign = result.map(|result| extended(result, bytes) >> 63 != 0);
        (self.carry, self.overflow) = (Some(false), Some(false));
        if mnemonic != Mnemonic::Test {
            self.set(instruction, Value::of(result));
        }
    }

    fn forget_flags(&mut self) {
        (self.zero, self.carry, self.sign, self.overflow) = (None, None, None, None);
    }

    fn holds(&self, condition: ConditionCode) -> Option<bool> {
        let less = || Some(self.sign? != self.overflow?);
        Some(match condition {
            ConditionCode::o => self.overflow?,
            ConditionCode::no => !self.overflow?,
            ConditionCode::b => self.carry?,
            ConditionCode::ae => !self.carry?,
            ConditionCode::e => self.zero?,
            ConditionCode::ne => !self.zero?,
            ConditionCode::be => self.carry? || self.zero?,
            ConditionCode::a => !self.carry? && !self.zero?,
            ConditionCode::s => self.sign?,
            ConditionCode::ns => !self.sign?,
            ConditionCode::l => less()?,
            ConditionCode::ge => !less()?,
            ConditionCode::le => self.zero? || less()?,
            ConditionCode::g => !self.zero? && !less()?,
            ConditionCode::None | ConditionCode::p | ConditionCode::np => return None,
        })
    }

    fn operand(&mut self, instruction: &Instruction, number: u32) -> Value {
        match instruction.op_kind(number) {
            OpKind::Register => {
                let register = instruction.op_register(number);
                if !register.is_gpr() || is_high_byte(register) {
                    return Value::Unknown;
                }
                match (self.registers[register.full_register().number()], register.size()) {
                    (value, 8) => value,
                    (Value::Number(value), bytes) => Value::Number(cut(value, bytes)),
                    _ => Value::Unknown,
                }
            }
            OpKind::Memory => {
                let address = self.address(instruction);
                self.load(address, instruction.memory_size().size())
            }
            _ => instruction
                .try_immediate(number)
                .map_or(Value::Unknown, Value::Number),
        }
    }

    fn set(&mut self, instruction: &Instruction, value: Value) {
        match instruction.op_kind(0) {
            OpKind::Register => {
                let register = instruction.op_register(0);
                if !register.is_gpr() {
                    return;
                }
                let whole = &mut self.registers[register.full_register().number()];
                *whole = match (value, *whole, register.size()) {
                    (value, _, 8) => value,
                    // A 32-bit result clears the upper half of the register.
                    (Value::Number(value), _, 4) => Value::Number(cut(value, 4)),
                    (Value::Number(value), Value::Number(before), bytes) if !is_high_byte(register) => {
                        Value::Number(before - cut(before, bytes) + cut(value, bytes))
                    }
                    _ => Value::Unknown,
                };
            }
            OpKind::Memory => {
                let address = self.address(instruction);
                self.store(address, value, instruction.memory_size().size());
            }
            _ => {}
        }
    }

    /// Returns the address of an instruction's memory operand.
    fn address(&self, instruction: &Instruction) -> Value {
        if instruction.segment_prefix() != Register::None {
            return Value::Unknown;
        }
        if instruction.is_ip_rel_memory_operand() {
            return Value::Number(instruction.ip_rel_memory_address());
        }
        let value = |register: Register| match register {
            Register::None => Value::Number(0),
            register if register.size() == 8 => self.registers[register.number()],
            _ => Value::Unknown,
        };
        let base = plus(
            value(instruction.memory_base()),
            instruction.memory_displacement64().cast_signed(),
        );
        let scale = i64::from(instruction.memory_index_scale());
        let index = value(instruction.memory_index()).number();
        index.map_or(Value::Unknown, |index| {
            plus(base, index.cast_signed().wrapping_mul(scale))
        })
    }

    fn load(&mut self, address: Value, bytes: usize) -> Value {
        match address {
            Value::Number(address) => Value::of(self.code.number(address, bytes)),
            Value::Stack(at) => match self.stack.get(&at) {
                Some((value, stored)) if *stored == bytes => *value,
                Some(_) | None => Value::Unknown,
            },
            Value::Argument(argument, offset) if bytes == 1 && argument < ARGUMENTS => {
                let place = (argument, offset);
                self.read.push(place);
                match self.state {
                    Some((state, value)) if state == place => Value::Number(value),
                    Some(_) | None => Value::Unknown,
                }
            }
            Value::Unknown | Value::Argument(..) => Value::Unknown,
        }
    }

    fn store(&mut self, address: Value, value: Value, bytes: usize) {
        // Only stores to the stack are tracked. The future is not on the function's own stack, and stores elsewhere do
        // not matter before the state has been read.
        if let Value::Stack(at) = address {
            let end = at.saturating_add(bytes as i64);
            self.stack
                .retain(|other, (_, length)| *other >= end || other.saturating_add(*length as i64) <= at);
            self.stack.insert(at, (value, bytes));
        }
    }
}

fn is_high_byte(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
}

fn size_of_operand(instruction: &Instruction, number: u32) -> usize {
    match instruction.op_kind(number) {
        OpKind::Register => instruction.op_register(number).size(),
        OpKind::Memory => instruction.memory_size().size(),
        _ => 8,
    }
}
