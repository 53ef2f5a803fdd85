#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OTLP's profiles as their receivers read them, by protobuf's own library.

usage: otlp.py FILE      prints the request in FILE as JSON: what a receiver makes of it, or what is wrong
       otlp.py --sums FILE.gz...  prints for each sample type its name, the sum of its values, and its
                         smallest and largest period; fails if a request is wrong

The fields are those of opentelemetry-proto v1.11.0 as the OpenTelemetry Collector's own description of them has them
(internal/cmd/pdatagen/internal/pdata/pprofile_package.go, pcommon_package.go): all of them, so what we do not send is seen, too.
"""
import gzip
import json
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

MESSAGES = {
    "ExportProfilesServiceRequest": "1 resource_profiles *ResourceProfiles, 2 dictionary ProfilesDictionary",
    "ProfilesDictionary": "1 mapping_table *Mapping, 2 location_table *Location, 3 function_table *Function, 4 link_table *Link, "
                          "5 string_table *string, 6 attribute_table *KeyValueAndUnit, 7 stack_table *Stack",
    "ResourceProfiles": "1 resource Resource, 2 scope_profiles *ScopeProfiles, 3 schema_url string",
    "ScopeProfiles": "1 scope InstrumentationScope, 2 profiles *Profile, 3 schema_url string",
    "Profile": "1 sample_type ValueType, 2 samples *Sample, 3 time_unix_nano fixed64, 4 duration_nano uint64, 5 period_type ValueType, "
               "6 period int64, 7 profile_id bytes, 8 dropped_attributes_count uint32, 9 original_payload_format string, "
               "10 original_payload bytes, 11 attribute_indices *int32",
    "Link": "1 trace_id bytes, 2 span_id bytes",
    "ValueType": "1 type_strindex int32, 2 unit_strindex int32",
    "Sample": "1 stack_index int32, 2 attribute_indices *int32, 3 link_index int32, 4 values *int64, 5 timestamps_unix_nano *fixed64",
    "Mapping": "1 memory_start uint64, 2 memory_limit uint64, 3 file_offset uint64, 4 filename_strindex int32, 5 attribute_indices *int32",
    "Stack": "1 location_indices *int32",
    "Location": "1 mapping_index int32, 2 address uint64, 3 lines *Line, 4 attribute_indices *int32",
    "Line": "1 function_index int32, 2 line int64, 3 column int64",
    "Function": "1 name_strindex int32, 2 system_name_strindex int32, 3 filename_strindex int32, 4 start_line int64",
    "KeyValueAndUnit": "1 key_strindex int32, 2 value AnyValue, 3 unit_strindex int32",
    "Resource": "1 attributes *KeyValue, 2 dropped_attributes_count uint32",
    "InstrumentationScope": "1 name string, 2 version string, 3 attributes *KeyValue, 4 dropped_attributes_count uint32",
    "KeyValue": "1 key string, 2 value AnyValue, 3 key_strindex int32",
    "AnyValue": "1 string_value ?string, 2 bool_value ?bool, 3 int_value ?int64, 4 double_value ?double, 5 array_value ?ArrayValue, "
                "6 kvlist_value ?KeyValueList, 7 bytes_value ?bytes, 8 string_value_strindex ?int32",
    "ArrayValue": "1 values *AnyValue",
    "KeyValueList": "1 values *KeyValue",
}


def schema():
    proto = descriptor_pb2.FileDescriptorProto(name="otlp.proto", package="otlp", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = proto.message_type.add(name=name)
        for text in fields.split(", "):
            number, field, kind = text.split()
            f = message.field.add(name=field, number=int(number))
            f.label = f.LABEL_REPEATED if kind[0] == "*" else f.LABEL_OPTIONAL
            if kind[0] == "?":
                if not message.oneof_decl:
                    message.oneof_decl.add(name="value")
                f.oneof_index = 0
            kind = kind.lstrip("*?")
            if kind in MESSAGES:
                f.type, f.type_name = f.TYPE_MESSAGE, ".otlp." + kind
            else:
                f.type = getattr(f, "TYPE_" + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("otlp.ExportProfilesServiceRequest"))


def unknown(message, where=""):
    """Fields that the schema does not have."""
    if len(message.UnknownFields()):
        yield f"{where or 'the request'}: field {message.UnknownFields()[0].field_number} is unknown"
    for field, value in message.ListFields():
        if field.message_type:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                yield from unknown(one, where + "/" + field.name)


def value(any_value):
    which = any_value.WhichOneof("value")
    return getattr(any_value, which) if which else None


def attributes(d, indices):
    return {d.string_table[d.attribute_table[i].key_strindex]: value(d.attribute_table[i].value) for i in indices}


def typed(d, value_type):
    return [d.string_table[value_type.type_strindex], d.string_table[value_type.unit_strindex]]


def frame(d, index):
    location = d.location_table[index]
    function = d.function_table[location.lines[0].function_index]
    return {"name": d.string_table[function.name_strindex], "file": d.string_table[function.filename_strindex],
            "line": location.lines[0].line, "mapping": d.string_table[d.mapping_table[location.mapping_index].filename_strindex],
            **attributes(d, location.attribute_indices)}


def read(data):
    request = schema()()
    request.ParseFromString(data)
    wrong = list(unknown(request))
    d = request.dictionary
    for table in ("mapping_table", "location_table", "function_table", "link_table", "attribute_table", "stack_table"):
        if not len(getattr(d, table)) or getattr(d, table)[0].ByteSize():
            wrong.append(f"{table}[0] is not empty")
    if not len(d.string_table) or d.string_table[0]:
        wrong.append("string_table[0] is not empty")
    if len(set(d.string_table)) != len(d.string_table):
        wrong.append("a string is there twice")
    resources = []
    for resource in request.resource_profiles:
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                resources.append({
                    "resource": {a.key: value(a.value) for a in resource.resource.attributes},
                    "scope": [scope.scope.name, scope.scope.version],
                    "type": typed(d, profile.sample_type), "period": [*typed(d, profile.period_type), profile.period],
                    "time": profile.time_unix_nano, "duration": profile.duration_nano,
                    "samples": [{"values": list(s.values), "attributes": attributes(d, s.attribute_indices),
                                 "stack": [frame(d, i) for i in d.stack_table[s.stack_index].location_indices]}
                                for s in profile.samples]})
    return {"wrong": wrong, "resources": resources}


def sums(names):
    found = {}
    for name in names:
        with gzip.open(name) as file:
            request = read(file.read())
        if request["wrong"]:
            sys.exit(f"{name}: {request['wrong']}")
        for p in request["resources"]:
            period = p["period"][2]
            total, least, most = found.get("/".join(p["type"]), (0, period, period))
            total += sum(v for s in p["samples"] for v in s["values"])
            found["/".join(p["type"])] = total, min(least, period), max(most, period)
    for kind in sorted(found):
        print(kind, *found[kind])


if __name__ == "__main__":
    if sys.argv[1] == "--sums":
        sys.exit(sums(sys.argv[2:]))
    print(json.dumps(read(open(sys.argv[1], "rb").read()), indent=1))
