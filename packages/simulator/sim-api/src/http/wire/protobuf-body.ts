import { messages } from './protobuf-messages.ts'

/**
 * Decodes the few objects that command line clients send as protobuf without negotiation.
 *
 * @returns object as JSON; undefined for another encoding or any other kind
 * @see Kubernetes API concepts, "Kubernetes Protobuf encoding": four bytes of magic, then an envelope with type and object
 */
export function protobufToJson(bytes: Uint8Array): string | undefined {
  if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'k8s\0') return undefined
  const envelope = readMessage(bytes.subarray(4), 'Unknown')
  const { apiVersion, kind } = (envelope['typeMeta'] ?? {}) as { readonly apiVersion?: string; readonly kind?: string }
  if (kind === undefined || messages[kind] === undefined || !(envelope['raw'] instanceof Uint8Array)) return undefined
  return JSON.stringify({ apiVersion, kind, ...readMessage(envelope['raw'], kind) })
}

function readMessage(bytes: Uint8Array, message: string): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const { number, value } of readFields(bytes)) {
    const [marked, type] = messages[message]?.[number] ?? []
    if (marked === undefined || type === undefined) continue
    const name = marked.replace('+', '')
    const [form, of] = type.split(' ')
    if (form === 'list') ((object[name] ??= []) as unknown[]).push(readValue(value, of!))
    else if (form === 'map') Object.assign((object[name] ??= {}) as object, readEntry(value, of!))
    else if (!marked.startsWith('+') || !isEmpty(value)) object[name] = readValue(value, type)
  }
  return object
}

function readEntry(value: WireValue, type: string): Record<string, unknown> {
  const fields = typeof value === 'bigint' ? [] : [...readFields(value)]
  const of = (number: number): WireValue => fields.find((field) => field.number === number)?.value ?? new Uint8Array()
  return { [String(readValue(of(1), 'string'))]: readValue(of(2), type) }
}

function readValue(value: WireValue, type: string): unknown {
  if (typeof value === 'bigint') return type === 'boolean' ? value !== 0n : Number(BigInt.asIntN(64, value))
  if (type === 'string') return Buffer.from(value).toString('utf8')
  if (type === 'bytes') return Buffer.from(value).toString('base64')
  if (type === 'raw') return value
  const message = readMessage(value, type)
  if (type === 'Quantity') return message['string']
  return type === 'IntOrString' ? intOrString(message) : message
}

/** Whole number, unless the type is a string. */
function intOrString({ type, intVal, strVal }: Readonly<Record<string, unknown>>): unknown {
  return type === 1 ? (strVal ?? '') : (intVal ?? 0)
}

function isEmpty(value: WireValue): boolean {
  return typeof value === 'bigint' ? value === 0n : value.length === 0
}

/** A whole number has at most ten bytes of seven bits. */
const VARINT_BITS = 70n

/** A field is either a whole number or bytes; no field we read is of fixed width. */
type WireValue = bigint | Uint8Array

function* readFields(bytes: Uint8Array): Generator<{ readonly number: number; readonly value: WireValue }> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; at < bytes.length && shift < VARINT_BITS; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return value
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wireType = tag & 7
    if (wireType === 0) yield { number: tag >> 3, value: varint() }
    else if (wireType === 2) {
      const length = Number(varint())
      yield { number: tag >> 3, value: bytes.subarray(at, (at += length)) }
    } else at += wireType === 1 ? 8 : 4
  }
}
