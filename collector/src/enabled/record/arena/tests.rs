//! Tests of `Made`, `Texts`, `Tagged`, `Array` and `Column`.

use super::*;

#[test]
fn places_are_side_by_side_and_chunks_double() {
    let place = Column::<AtomicU64>::place;
    let places = [0, 255, 256, 511, 512, 1023].map(place);
    assert_eq!(places, [(0, 0), (0, 255), (1, 0), (1, 255), (2, 0), (2, 511)]);
    assert_eq!(place(PLACES - 1), (CHUNKS - 1, PLACES / 2 - 1));
}

#[test]
fn values_are_kept_until_there_is_no_place() {
    static MADE: Made<u64, 2> = Made::none();
    let kept = [5, 6].map(|value| MADE.keep(value).unwrap());
    assert_eq!(kept, [&5, &6]);
    assert!(MADE.keep(7).is_none() && MADE.keep(8).is_none());
    let first: Ref<u64> = Ref::none();
    assert_eq!(first.set_first(kept[0]), &5);
    assert_eq!(first.set_first(kept[1]), &5);
}

#[test]
fn texts_are_kept_until_there_is_no_space() {
    static TEXTS: Texts<8> = Texts::none();
    let kept = ["ab", "", "cdef"].map(|text| TEXTS.keep(&String::from(text)).unwrap());
    assert_eq!(kept, ["ab", "", "cdef"]);
    assert_eq!((TEXTS.keep("xyz"), TEXTS.keep("gh")), (None, Some("gh")));
    assert_eq!((TEXTS.keep("i"), TEXTS.keep("")), (None, Some("")));
}

#[test]
fn a_tag_comes_back_beside_its_value() {
    #[repr(align(64))]
    struct Line(AtomicU64);
    static LINE: Line = Line(AtomicU64::new(7));
    let tagged = Tagged(AtomicPtr::new(std::ptr::null_mut()));
    assert!(tagged.get(0).is_none());
    for tag in [0, 1, 63, 64 + 5, u32::MAX] {
        tagged.set(&LINE, tag);
        let (value, is_tagged) = tagged.get(tag).unwrap();
        assert!(is_tagged && value.0.load(Ordering::Relaxed) == 7);
        // Only the low bits are the tag.
        assert!(tagged.get(tag ^ 64).unwrap().1 && !tagged.get(tag ^ 1).unwrap().1);
    }
    tagged.clear();
    assert!(tagged.get(0).is_none());
}

#[test]
fn any_number_names_an_element() {
    let array: Array<AtomicU64> = zeros();
    assert!(array.wrapped(3).is_none());
    assert!(array.allocate(8));
    for number in [0, 7, 8, 1001, u32::MAX] {
        assert!(std::ptr::eq(
            array.wrapped(number).unwrap(),
            array.get(number % 8).unwrap()
        ));
    }
}

#[test]
fn a_column_has_what_was_made() {
    let column: Column<AtomicU64> = zeros();
    assert!(column.get(300).is_none() && column.is_empty());
    column.make(300).unwrap().store(7, Ordering::Relaxed);
    assert_eq!(column.get(300).unwrap().load(Ordering::Relaxed), 7);
    assert!(column.get(0).is_none() && column.make(PLACES).is_none() && !column.is_empty());
}
