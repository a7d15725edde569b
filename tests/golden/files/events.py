"""Writes an event file as SummaryWriter() does, and prints nothing: events.py TAG VALUE."""
import os
import struct
import sys
import time


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def field(key, data):
    return bytes([key, len(data)]) + data


tag, value = sys.argv[1].encode(), float(sys.argv[2])
now = b"\x09" + struct.pack("<d", time.time())
scalar = field(0x2A, field(0x0A, field(0x0A, tag) + b"\x15" + struct.pack("<f", value)))
os.makedirs(f"runs/{time.time_ns()}_host")
with open(f"runs/{sorted(os.listdir('runs'))[-1]}/events.out.tfevents.{time.time():.0f}.host", "wb") as file:
    file.write(record(now + field(0x1A, b"brain.Event:2")) + record(now + b"\x10\x01" + scalar))
