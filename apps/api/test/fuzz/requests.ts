import fc from 'fast-check'
import type { Description, Operation, Parameter } from './described.ts'
import { type Hints, type Json, nearly, oddJson, oddText, validOf } from './values.ts'

/** Sender of a request. `admin` may do everything, `eve` nothing; `page` is a page of another origin that sends a session cookie. */
export const senders = ['admin', 'session', 'page', 'eve', 'outsider', 'stranger', 'basic', 'endless'] as const
/** @see senders */
export type Sender = (typeof senders)[number]

/** A request to send; tokens and signatures are added when it is sent. */
export interface FuzzRequest {
  readonly operation: Operation
  readonly method: string
  /** Encoded path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly sender: Sender
  /** Signature of a message to a hook. */
  readonly signed: 'well' | 'badly' | 'not'
  readonly body: Buffer | undefined
  /** Whether the body is sent with `transfer-encoding: chunked`. */
  readonly isChunked: boolean
  /** Whether its changes are kept for the following requests. */
  readonly stays: boolean
}

/** @returns requests to any operation: a third of them is valid, the others may have garbage in any part */
export function requestsTo(operations: readonly Operation[], description: Description, hints: Hints): fc.Arbitrary<FuzzRequest> {
  const sources = ['right', 'odd', 'odd'] as const
  return fc.oneof(...sources.flatMap((source) => operations.map((operation) => requestsOf({ operation, description, hints, source }))))
}

/** Inputs for generating requests. */
interface Source {
  readonly operation: Operation
  readonly description: Description
  readonly hints: Hints
  readonly source: 'right' | 'odd'
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']

function requestsOf(made: Source): fc.Arbitrary<FuzzRequest> {
  const { operation } = made
  return fc
    .record({
      method: mostly(made, fc.constant(operation.method), fc.constantFrom(...methods), 30),
      target: targetsOf(made),
      headers: headersOf(made),
      sender: mostly(made, fc.constant<Sender>('admin'), fc.constantFrom(...senders), 3),
      signed: mostly(made, fc.constant('well' as const), fc.constantFrom('badly', 'not'), 6),
      payload: payloadsOf(made),
      isChunked: fc.oneof({ arbitrary: fc.constant(false), weight: 8 }, fc.constant(true)),
      stays: fc.oneof({ arbitrary: fc.constant(false), weight: 2 }, fc.constant(true)),
    })
    .map(({ payload, headers, ...request }) => ({
      ...request,
      operation,
      headers: { ...(payload.type !== '' && { 'content-type': payload.type }), ...headers },
      body: payload.body,
    }))
}

function mostly<A, B>({ source }: Source, usual: fc.Arbitrary<A>, odd: fc.Arbitrary<B>, usualWeight: number): fc.Arbitrary<A | B> {
  return source === 'right' ? usual : fc.oneof({ arbitrary: usual, weight: usualWeight }, { arbitrary: odd, weight: 1 })
}

function targetsOf(made: Source): fc.Arbitrary<string> {
  const { path, parameters } = made.operation
  const named = (where: Parameter['in']): readonly (readonly [string, fc.Arbitrary<string>])[] =>
    parameters
      .filter((parameter) => parameter.in === where && !isSkipped(made, parameter))
      .map((parameter) => [parameter.name, texts(made, parameter)])
  const inPath = fc.record(Object.fromEntries(named('path')))
  const inQuery = fc.record(Object.fromEntries(named('query')), { requiredKeys: [] })
  const code = mostly(made, fc.constant(encoded), fc.constant(rawly), 3)
  const more = mostly(made, fc.constant([]), fc.array(fc.tuple(oddText, oddText), { maxLength: 3 }), 8)
  const ending = mostly(made, fc.constant(''), fc.constantFrom(...endings), 30)
  return fc.record({ inPath, inQuery, more, code, ending }).map((target) => {
    const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => target.code(String(target.inPath[name])))
    const pairs = [...Object.entries(target.inQuery), ...target.more].map(
      ([name, value]) => `${target.code(name)}=${target.code(String(value))}`,
    )
    return `${filled}${target.ending}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`
  })
}

/** A cursor is only valid for one list in one order. */
function isSkipped({ source }: Source, { name }: Parameter): boolean {
  return source === 'right' && name === 'cursor'
}

const endings = ['/', '//', '/..', '%', '%00', ';', '#', '?', '%ff', '/%2e%2e/', '.json']

/** Lone surrogates cannot be encoded; they are sent as the UTF-8 replacement character. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Encodes only what HTTP cannot carry, like a careless program. */
function rawly(text: string): string {
  return text.replace(/[^\x21-\x7e\x80-\xff]/g, encoded)
}

function texts(made: Source, { name, schema }: Parameter): fc.Arbitrary<string> {
  const valid = validOf(schema, made.description, { hints: made.hints, name }).map(textOf)
  return mostly(made, valid, oddText, 12)
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const oddHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc.record(
  {
    'x-request-id': oddText,
    'x-forwarded-for': fc.oneof(fc.constantFrom('10.1.2.3', '2001:db8::1', '1.1.1.1, 10.0.0.1'), oddText),
    'x-forwarded-proto': oddText,
    accept: fc.constantFrom('*/*', 'text/html', 'application/xml;q=0', ''),
    'accept-encoding': fc.constantFrom('gzip', 'identity;q=0', ''),
    'content-encoding': fc.constantFrom('gzip', 'br', 'identity'),
    origin: fc.constantFrom('https://evil.example', 'null', ''),
    host: fc.constantFrom('evil.example', 'localhost', '[::1]'),
    cookie: oddText,
    'x-csrf-token': oddText,
    'last-event-id': oddText,
    'idempotency-key': oddText,
    'if-none-match': fc.constant('*'),
    range: fc.constant('bytes=0-1'),
    'x-http-method-override': fc.constant('DELETE'),
  },
  { requiredKeys: [] },
)

function headersOf(made: Source): fc.Arbitrary<Readonly<Record<string, string>>> {
  const described = made.operation.parameters.filter(({ in: where, name }) => where === 'header' && name !== 'x-tranche-signature')
  const wanted = fc.record(Object.fromEntries(described.map((one) => [one.name, texts(made, one)])), { requiredKeys: [] })
  return fc
    .tuple(wanted, mostly(made, fc.constant({}), oddHeaders, 3), fc.nat({ max: 65_535 }))
    .map(([one, other, host]) => ({ 'x-forwarded-for': `10.0.${host >> 8}.${host & 255}`, ...one, ...other }))
    .map((headers) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, carried(String(value))])))
}

/** Valid characters of a header; clients refuse others. */
function carried(value: string): string {
  return value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 6_000)
}

interface Payload {
  readonly type: string
  readonly body: Buffer | undefined
}

const JSON_TYPE = 'application/json'
const oddTypes = ['', 'text/plain', 'application/yaml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
const moreTypes = ['application/json; charset=utf-16', 'APPLICATION/JSON', 'application/merge-patch+json', 'json', ';;', 'a/b/c', '*/*']

function payloadsOf(made: Source): fc.Arbitrary<Payload> {
  const { method, body } = made.operation
  const none = fc.constant({ type: '', body: undefined })
  const garbage = fc.record({
    type: fc.oneof({ arbitrary: fc.constant(JSON_TYPE), weight: 2 }, fc.constantFrom(...oddTypes, ...moreTypes)),
    body: oddBody,
  })
  if (body === undefined) return mostly(made, none, garbage, method === 'GET' ? 12 : 2)
  const valid = validOf(body, made.description, { hints: made.hints, name: `body of ${made.operation.id}` })
  const json = (value: fc.Arbitrary<Json>): fc.Arbitrary<Payload> => value.map((one) => ({ type: JSON_TYPE, body: bytesOf(one) }))
  const otherType = fc.record({ type: fc.constantFrom(...oddTypes, ...moreTypes), body: valid.map(bytesOf) })
  const odd = fc.oneof(
    { arbitrary: json(nearly(valid)), weight: 4 },
    { arbitrary: garbage, weight: 2 },
    { arbitrary: otherType, weight: 1 },
    { arbitrary: none, weight: 1 },
  )
  return mostly<Payload, Payload>(made, json(valid), odd, 1)
}

function bytesOf(value: Json): Buffer {
  return Buffer.from(JSON.stringify(value))
}

const oddBody: fc.Arbitrary<Buffer> = fc.oneof(
  oddJson.map(bytesOf),
  oddJson.map((value) => bytesOf(value).subarray(0, -1)),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      ...['', 'null', '"', '{"reason":1e999}', '{"__proto__":{"reason":"x"}}', '{"constructor":{"prototype":{"reason":"x"}}}', '\ufeff{}'],
      ...['{"reason":"a","reason":"b"}', '{"reason":"\\ud800"}', '{"reason":"\\u0000"}', '{}{}', '// {}', "{'reason':'x'}", 'NaN', '[[]]'],
    )
    .map((text) => Buffer.from(text)),
  fc.constantFrom(1_000, 30_000, 32_000).map((depth) => Buffer.from('['.repeat(depth) + ']'.repeat(depth))),
  fc.constantFrom(1_000, 6_000).map((depth) => Buffer.from('{"reason":'.repeat(depth) + '1' + '}'.repeat(depth))),
  fc.constantFrom(65_000, 65_537, 200_000).map((size) => Buffer.from(JSON.stringify({ reason: 'x'.repeat(size) }))),
  fc.constantFrom(4_000).map((members) => Buffer.from(`{${Array.from({ length: members }, (_none, at) => `"m${at}":0`).join(',')}}`)),
)
