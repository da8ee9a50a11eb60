"""A scripted client of the Debug Adapter Protocol: sends requests one after the other, and prints what comes back in short.

usage: client.py HEDDLE ARGUMENTS…, requests on standard input: a line `COMMAND {json}`, `wait EVENT` reads up to an event.
"""
import json
import subprocess
import sys

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
sequence = 0


def receive():
    length = None
    while True:
        line = server.stdout.readline()
        if not line:
            print("end of output")
            sys.exit(1)
        line = line.strip()
        if not line:
            break
        name, value = line.split(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(server.stdout.read(length))


def show(message):
    body = json.dumps(message.get("body", {}), sort_keys=True, ensure_ascii=False)
    if message["type"] == "event":
        print(f"event {message['event']}: {body}")
    else:
        print(f"{message['command']} {'ok' if message['success'] else 'FAILED'}: {body}")


for line in sys.stdin:
    line = line.strip()
    if not line:
        continue
    command, _, arguments = line.partition(" ")
    if command == "wait":
        while True:
            message = receive()
            show(message)
            if message["type"] == "event" and message["event"] == arguments:
                break
        continue
    sequence += 1
    text = json.dumps({"seq": sequence, "type": "request", "command": command, "arguments": json.loads(arguments or "{}")})
    data = text.encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    server.stdin.flush()
    while True:
        message = receive()
        show(message)
        if message["type"] == "response" and message["request_seq"] == sequence:
            break
server.stdin.close()
print("status", server.wait(timeout=60))
