//! The messages of Perfetto's trace format that are written, with the numbers of their fields.

use prost::Message;

/// `TracePacket` (`trace_packet.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    pub(crate) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(crate) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(crate) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(crate) interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub(crate) sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub(crate) track_descriptor: Option<TrackDescriptor>,
}

/// `TrackEvent.Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceKind {
    Begin = 1,
    End = 2,
    Instant = 3,
}

/// `TrackEvent` (`track_event.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackEvent {
    #[prost(uint64, repeated, tag = "3")]
    pub(crate) category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    pub(crate) kind: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub(crate) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub(crate) track_uuid: Option<u64>,
}

/// `DebugAnnotation` (`debug_annotation.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) name_iid: Option<u64>,
    #[prost(int64, optional, tag = "4")]
    pub(crate) int_value: Option<i64>,
    #[prost(uint64, optional, tag = "17")]
    pub(crate) string_value_iid: Option<u64>,
}

/// `InternedData` (`interned_data.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct InternedData {
    #[prost(message, repeated, tag = "1")]
    pub(crate) event_categories: Vec<InternedString>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) event_names: Vec<InternedString>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) debug_annotation_names: Vec<InternedString>,
    #[prost(message, repeated, tag = "29")]
    pub(crate) debug_annotation_string_values: Vec<InternedString>,
}

impl InternedData {
    /// Whether nothing is introduced.
    pub(crate) fn is_empty(&self) -> bool {
        self.event_categories.is_empty()
            && self.event_names.is_empty()
            && self.debug_annotation_names.is_empty()
            && self.debug_annotation_string_values.is_empty()
    }
}

/// `EventCategory`, `EventName`, `DebugAnnotationName` and `InternedString` are the same on the wire.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct InternedString {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) iid: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) text: Option<Vec<u8>>,
}

/// `TrackDescriptor` (`track_descriptor.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(crate) process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    pub(crate) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(crate) parent_uuid: Option<u64>,
}

/// `ProcessDescriptor` (`process_descriptor.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(crate) pid: Option<i32>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) cmdline: Vec<String>,
    #[prost(string, optional, tag = "6")]
    pub(crate) process_name: Option<String>,
}

/// `ThreadDescriptor` (`thread_descriptor.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(crate) pid: Option<i32>,
    #[prost(int32, optional, tag = "2")]
    pub(crate) tid: Option<i32>,
    #[prost(string, optional, tag = "5")]
    pub(crate) thread_name: Option<String>,
}
