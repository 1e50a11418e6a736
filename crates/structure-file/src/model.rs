//! Small sections, bit by bit, by what was behind the same bytes before: for some kilobytes a third smaller than anything that needs
//! tables of its own.
//!
//! Several contexts (how many bytes before, which word, which longest repetition) each foretell the next bit; a mixer that learns
//! weighs them. Everything is integers, so that every machine foretells the same. It learns from samples before, and from one section for
//! the next.
//!
//! Source: M. Mahoney, Adaptive weighing of context models for lossless data compression (2005).

use crate::arithmetic::{CERTAIN, Decoder, Encoder};

/// Which weights are learnt together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Material {
    /// Texts and JSON.
    Text,
    /// Numbers.
    Numbers,
}

const CONTEXTS: usize = 8;
/// What contexts and the repetition say, and a constant.
const INPUTS: usize = 2 * CONTEXTS + 2;
const SLOT_BITS: u32 = 17;
/// Places of the last four bytes.
const PLACE_BITS: u32 = 14;
const MOST_LENGTH: usize = 31;
const SHORTEST_REPETITION: usize = 3;
/// After so many bits a slot forgets the oldest ones.
const MOST_SEEN: u8 = 30;
/// How much is believed of what was seen so often, of 256.
const BELIEVED: [i32; 8] = [0, 96, 160, 200, 224, 240, 256, 256];
const FIRST_WEIGHT: i32 = 14_000;
const LEARNING_RATE: i32 = 5;
/// More is never learnt from what programs do; without an end a long input could be too much for 32 bits.
const MOST_WEIGHT: i32 = 1 << 22;
const WEIGHTS: usize = 6 * 2 * 2;

/// The logistic function at multiples of 1/2 from -8 on, of 4,096.
const LOGISTIC: [i32; 33] = [
    1, 2, 4, 6, 10, 17, 27, 45, 74, 120, 194, 311, 488, 747, 1102, 1546, 2048, 2550, 2994, 3349, 3608, 3785,
    3902, 3976, 4022, 4051, 4069, 4079, 4086, 4090, 4092, 4094, 4095,
];
/// How far the logistic function is asked, and an unknown probability is from 1/2 as it sees it.
const FARTHEST: i32 = 2_047;

/// Of 4,096, at 1/256 of `x`.
fn squash(x: i32) -> i32 {
    let x = x.clamp(-FARTHEST, FARTHEST) + 2_048;
    let (index, part) = ((x >> 7) as usize, x & 127);
    (LOGISTIC[index] * (128 - part) + LOGISTIC[index + 1] * part + 64) >> 7
}

/// What [`squash`] is the inverse of, for probabilities of 4,096.
fn stretches() -> Vec<i32> {
    let mut x = -FARTHEST;
    let at = |probability| {
        while x < FARTHEST && squash(x) < probability {
            x += 1;
        }
        x
    };
    (0..4_096).map(at).collect()
}

fn hash(numbers: &[u32]) -> u32 {
    numbers.iter().fold(0x9e37_79b9, |hash, number| {
        let mixed = (hash ^ number).wrapping_mul(0x2c1b_3c6d);
        mixed ^ mixed >> 15
    })
}

/// How often a bit was 1, of late.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Above 1/2, in parts of 65,536.
    above_half: i16,
    seen: u8,
}

impl Slot {
    fn update(&mut self, bit: bool, most_seen: u8) {
        let target = if bit { i32::from(i16::MAX) } else { i32::from(i16::MIN) };
        let seen = i32::from(self.seen);
        let above = i32::from(self.above_half) + (target - i32::from(self.above_half)) * 2 / (2 * seen + 3);
        self.above_half = above as i16;
        self.seen = (self.seen + 1).min(most_seen);
    }
}

/// The longest repetition that the last bytes are of.
#[derive(Clone, Debug)]
struct Repetition {
    /// Where the next byte stood before.
    place: usize,
    length: usize,
    /// Whether it told the bit that it does, by length.
    slots: [Slot; MOST_LENGTH + 1],
    /// What it says about the next bit.
    says: Option<bool>,
}

impl Default for Repetition {
    fn default() -> Self {
        let mostly = Slot { above_half: 27_000, seen: 4 };
        Self { place: 0, length: 0, slots: [mostly; MOST_LENGTH + 1], says: None }
    }
}

impl Repetition {
    const MOST_SEEN: u8 = 100;

    fn says(&self, history: &[u8], begun: u32) -> Option<bool> {
        let byte = u32::from(*history.get(self.place).filter(|_| self.length > 0)?) | 0x100;
        let bits = u32::BITS - 1 - begun.leading_zeros();
        (byte >> (8 - bits) == begun).then_some(byte >> (7 - bits) & 1 == 1)
    }

    fn slot(&mut self) -> &mut Slot {
        &mut self.slots[self.length.min(MOST_LENGTH)]
    }
}

/// What is foretold of the next bit.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    stretches: Vec<i32>,
    slots: Vec<Slot>,
    weights: Vec<[i32; INPUTS]>,
    history: Vec<u8>,
    /// Where the last of the same four bytes ended.
    places: Vec<u32>,
    repetition: Repetition,
    contexts: [u32; CONTEXTS],
    word: u32,
    material: Material,
    /// The bits of the next byte that are known, below a 1.
    begun: u32,
    of_contexts: [usize; CONTEXTS],
    inputs: [i32; INPUTS],
    chosen: usize,
    /// Of 4,096.
    foretold: i32,
}

impl Model {
    /// A model that has read samples.
    pub(crate) fn new<'a>(samples: impl IntoIterator<Item = (Material, &'a [u8])>) -> Self {
        let mut model = Self {
            stretches: stretches(),
            slots: vec![Slot::default(); CONTEXTS << SLOT_BITS],
            weights: vec![[FIRST_WEIGHT; INPUTS]; WEIGHTS],
            history: Vec::new(),
            places: vec![0; 1 << PLACE_BITS],
            repetition: Repetition::default(),
            contexts: [0; CONTEXTS],
            word: 0,
            material: Material::Text,
            begun: 1,
            of_contexts: [0; CONTEXTS],
            inputs: [0; INPUTS],
            chosen: 0,
            foretold: 0,
        };
        for (material, bytes) in samples {
            model.begin(material);
            for byte in bytes {
                each_bit_of(*byte, |bit| {
                    model.foretell();
                    model.learn(bit);
                });
            }
        }
        model
    }

    fn begin(&mut self, material: Material) {
        self.material = material;
        self.choose_contexts();
    }

    /// The last bytes, the last one first.
    fn last<const N: usize>(&self) -> [u32; N] {
        let mut bytes = self.history.iter().rev().map(|byte| u32::from(*byte));
        std::array::from_fn(|_| bytes.next().unwrap_or(0))
    }

    fn choose_contexts(&mut self) {
        let last: [u32; 6] = self.last();
        let material = self.material as u32;
        self.contexts = [
            hash(&[0, material]),
            hash(&[1, last[0]]),
            hash(&[2, last[0], last[1]]),
            hash(&[3, last[0], last[1], last[2]]),
            hash(&[4, last[0], last[1], last[2], last[3]]),
            hash(&[6, last[0], last[1], last[2], last[3], last[4], last[5]]),
            hash(&[7, self.word, material]),
            hash(&[8, last[1], last[2], material]),
        ];
    }

    /// Follows the repetition, or looks for one where the same four bytes stood.
    fn repeat(&mut self) {
        let place = hash(&self.last::<4>()) >> (u32::BITS - PLACE_BITS);
        let history = &self.history;
        let Repetition { place: next, length, .. } = &mut self.repetition;
        let goes_on = *length > 0 && history.get(*next) == history.last();
        (*next, *length) = if goes_on { (*next + 1, *length + 1) } else { (0, 0) };
        let last = std::mem::replace(&mut self.places[place as usize], history.len() as u32) as usize;
        if *length == 0 {
            let pairs = history[..last].iter().rev().zip(history.iter().rev());
            let same = pairs.take(MOST_LENGTH).take_while(|(one, other)| one == other).count();
            (*next, *length) = if same < SHORTEST_REPETITION { (0, 0) } else { (last, same) };
        }
    }

    /// How often the next bit is 1, in parts of [`CERTAIN`].
    fn foretell(&mut self) -> u32 {
        let mut known = 0;
        for (index, context) in self.contexts.iter().enumerate() {
            let place = hash(&[*context, self.begun]) >> (u32::BITS - SLOT_BITS);
            self.of_contexts[index] = index << SLOT_BITS | place as usize;
            let slot = self.slots[self.of_contexts[index]];
            let believed = BELIEVED[usize::from(slot.seen).min(BELIEVED.len() - 1)];
            self.inputs[2 * index] = (self.stretch(slot) * believed) >> 8;
            self.inputs[2 * index + 1] = ((i32::from(slot.above_half) >> 5) * believed) >> 8;
            known += usize::from((1..=5).contains(&index) && slot.seen > 0);
        }
        let says = self.repetition.says(&self.history, self.begun);
        self.repetition.says = says;
        let slot = *self.repetition.slot();
        let sure = self.stretch(slot);
        self.inputs[2 * CONTEXTS] = says.map_or(0, |bit| if bit { sure } else { -sure });
        self.inputs[2 * CONTEXTS + 1] = 256;
        self.chosen = (self.material as usize * 2 + usize::from(says.is_some())) * 6 + known;
        let weighed = self.weights[self.chosen].iter().zip(&self.inputs);
        let sum: i64 = weighed.map(|(weight, input)| i64::from(*weight) * i64::from(*input)).sum();
        self.foretold = squash((sum >> 16).clamp((-FARTHEST).into(), FARTHEST.into()) as i32);
        self.foretold as u32 * (CERTAIN >> 12)
    }

    fn stretch(&self, slot: Slot) -> i32 {
        self.stretches[((i32::from(slot.above_half) + 32_768) >> 4) as usize]
    }

    fn learn(&mut self, bit: bool) {
        let error = (i32::from(bit) << 12) - self.foretold;
        for (weight, input) in self.weights[self.chosen].iter_mut().zip(&self.inputs) {
            *weight = learnt(*weight, *input, error);
        }
        self.of_contexts.iter().for_each(|&place| self.slots[place].update(bit, MOST_SEEN));
        if let Some(said) = self.repetition.says {
            self.repetition.slot().update(said == bit, Repetition::MOST_SEEN);
            if said != bit {
                self.repetition.length = 0;
            }
        }
        self.begun = self.begun << 1 | u32::from(bit);
        if self.begun >= 0x100 {
            self.end_byte();
        }
    }

    fn end_byte(&mut self) {
        let byte = self.begun as u8;
        self.begun = 1;
        self.history.push(byte);
        let is_of_word = byte.is_ascii_alphanumeric() || byte == b'_';
        self.word = if is_of_word { hash(&[self.word, byte.into()]) } else { byte.into() };
        self.repeat();
        self.choose_contexts();
    }
}

/// A weight that was off by an error.
fn learnt(weight: i32, input: i32, error: i32) -> i32 {
    let step = (input * error * LEARNING_RATE + 0x2000) >> 14;
    (weight + step).clamp(-MOST_WEIGHT, MOST_WEIGHT)
}

/// The bits of a byte, the highest first.
fn each_bit_of(byte: u8, mut each: impl FnMut(bool)) {
    (0..8).rev().for_each(|at| each(byte >> at & 1 == 1));
}

/// Sections as bytes.
pub(crate) fn compress<'a>(
    mut model: Model,
    sections: impl IntoIterator<Item = (Material, &'a [u8])>,
) -> Vec<u8> {
    let mut out = Encoder::default();
    for (material, bytes) in sections {
        model.begin(material);
        for byte in bytes {
            each_bit_of(*byte, |bit| {
                out.bit(bit, model.foretell());
                model.learn(bit);
            });
        }
    }
    out.finish()
}

/// Sections that are read, one after the other.
pub(crate) struct Sections<'a> {
    model: Model,
    input: Decoder<'a>,
}

impl<'a> Sections<'a> {
    pub(crate) fn new(model: Model, bytes: &'a [u8]) -> Self {
        Self { model, input: Decoder::new(bytes) }
    }

    /// The next `len` bytes.
    pub(crate) fn next(&mut self, material: Material, len: usize) -> Vec<u8> {
        self.model.begin(material);
        (0..len).map(|_| self.byte()).collect()
    }

    fn byte(&mut self) -> u8 {
        (0..8).fold(0, |byte, _| {
            let bit = self.input.bit(self.model.foretell());
            self.model.learn(bit);
            byte << 1 | u8::from(bit)
        })
    }

    /// Whether all bytes were read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.input.is_at_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn model() -> Model {
        Model::new([(Material::Text, &b"a sample"[..])])
    }

    fn back(bytes: &[u8], lens: &[usize]) -> Vec<Vec<u8>> {
        let mut sections = Sections::new(model(), bytes);
        lens.iter().map(|&len| sections.next(Material::Text, len)).collect()
    }

    fn of_text(sections: &[Vec<u8>]) -> Vec<u8> {
        compress(model(), sections.iter().map(|bytes| (Material::Text, &bytes[..])))
    }

    #[test]
    fn the_logistic_function_has_its_inverse() {
        let stretches = stretches();
        assert!((-2_047..2_047).all(|x| squash(x) <= squash(x + 1)), "it never falls");
        assert!(
            (1..4_095).all(|probability| squash(stretches[probability]).abs_diff(probability as i32) <= 16)
        );
        assert_eq!((squash(0), squash(-9_999) > 0, squash(9_999) < 4_096), (2_048, true, true));
    }

    #[test]
    fn weights_have_an_end() {
        let long = |input| (0..1 << 20).fold(FIRST_WEIGHT, |weight, _| learnt(weight, input, 4_095));
        assert_eq!((long(FARTHEST), long(-FARTHEST)), (MOST_WEIGHT, -MOST_WEIGHT));
    }

    #[test]
    fn what_samples_have_takes_little() {
        let sections = [(Material::Text, &b"processes that differ in numbers are one text"[..])];
        let [known, new] =
            [Model::new(sections), Model::new([])].map(|model| compress(model, sections).len());
        assert!(known < new / 3, "{known} of {new} bytes");
    }

    #[test]
    fn repetitions_take_little() {
        let bytes: Vec<u8> = (0..4_000_u32).map(|number| (number % 50) as u8).collect();
        assert!(of_text(std::slice::from_ref(&bytes)).len() < 100);
        assert_eq!(back(&of_text(std::slice::from_ref(&bytes)), &[4_000]), [bytes]);
    }

    proptest! {
        #[test]
        fn sections_come_back(sections in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..4)) {
            let lens: Vec<usize> = sections.iter().map(Vec::len).collect();
            prop_assert_eq!(back(&of_text(&sections), &lens), sections);
        }

        #[test]
        fn texts_come_back(text in "[ab\"]{0,600}", rest in "[ab0-9]{0,40}") {
            let sections = [text.into_bytes(), rest.into_bytes()];
            let lens = [sections[0].len(), sections[1].len()];
            prop_assert_eq!(back(&of_text(&sections), &lens), sections);
        }

        #[test]
        fn any_bytes_are_some_section(bytes in prop::collection::vec(any::<u8>(), 0..100), len in 0..400_usize) {
            prop_assert_eq!(back(&bytes, &[len])[0].len(), len);
        }
    }
}
