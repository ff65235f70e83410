use proptest::prelude::*;

use super::*;

fn sled() -> impl Strategy<Value = Sled> {
    (0..1u64 << 48, 0..4u64).prop_map(|(address, kind)| Sled {
        address,
        kind: SledKind::of(kind).unwrap(),
    })
}

prop_compose! {
    fn function()(
        name in "[a-zäö:<>]{0,12}",
        module in "[ab:]{0,3}",
        file in "[a./]{0,4}",
        package in "[a0. ]{0,3}",
        numbers in any::<(u32, u32)>(),
        origin in 0..4u32,
        sleds in prop::collection::vec(sled(), 0..5),
        poll in prop::option::of((0..2u32, 0..1u32 << 30)),
    ) -> Function {
        let (line, size) = numbers;
        let poll = poll.map(|(argument, state_offset)| PollFunction { argument, state_offset });
        Function { name, module, file, line, package, size, origin: Origin::of(origin), sleds, poll }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        functions in prop::collection::vec(function(), 0..12),
        map in (0..1u64 << 48, 0..1u64 << 32),
    ) {
        let map = map.0..map.0 + map.1;
        let bytes = encode(map.clone(), &functions).unwrap();
        let table = FunctionTable::read(&bytes).unwrap();
        prop_assert_eq!(table.map(), map);
        prop_assert_eq!(table.sled_count(), functions.iter().map(|f| f.sleds.len()).sum::<usize>());
        let read: Vec<_> = (0..table.len()).map(|index| table.function(index).unwrap()).collect();
        prop_assert_eq!(read, functions);
        for cut in 0..bytes.len() {
            prop_assert!(FunctionTable::read(&bytes[..cut]).is_err(), "cut at {}", cut);
        }
    }

    /// Whatever lengths and offsets the bytes claim, reading them must not panic.
    #[test]
    fn any_bytes_are_read_or_refused(
        functions in prop::collection::vec(function(), 0..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = encode(0..0, &functions).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(table) = FunctionTable::read(&bytes) {
            for index in 0..=table.len() {
                let _ = table.function(index);
            }
        }
    }
}

#[test]
fn other_versions_and_other_files_are_named() {
    let mut bytes = encode(0..0, &[]).unwrap();
    bytes[8] = 9;
    let error = FunctionTable::read(&bytes).unwrap_err().to_string();
    assert!(error.contains('9'), "{error}");
    assert!(error.contains(&VERSION.to_string()), "{error}");
    bytes[0] = b'X';
    let error = FunctionTable::read(&bytes).unwrap_err().to_string();
    assert!(error.contains("XKSFUNCS"), "{error}");
}
