import { planMemory } from '../plan/plan-memory.ts'

/** What the server takes of whom. */
export interface Limits {
  /** Requests in one second from one token, or from one address without a good token. @default 200 */
  readonly requestsPerSecond: number
  /** Tokens that prove to be nobody's in one second from one address, before those that follow wait. @default 100 */
  readonly guessesPerSecond: number
  /** Requests from one address that wait until their token is looked at for the first time. @default 200 */
  readonly unauthenticatedPerAddress: number
  /** Connections side by side that serve no request of an authenticated client. @default 1024 */
  readonly connections: number
  /** Of these, connections of one address. @default 512 */
  readonly connectionsOfAddress: number
  /** Bodies that authenticated users are sending at a time, together, in bytes. @default 67108864 */
  readonly receivedBytes: number
  /** Of these, bodies of one user. @default 8388608 */
  readonly receivedBytesOfUser: number
  /** Largest body, in bytes. @default 65536 */
  readonly bodyBytes: number
  /** Largest manifests to check, in bytes. @default 1048576 */
  readonly manifestBytes: number
  /** One request, from its first byte to its answer, in milliseconds; `?wait=` has this on top of what it waits. @default 15000 */
  readonly requestMs: number
  /** One forecast, on top of `requestMs`, in milliseconds. @default 60000 */
  readonly planMs: number
  /** Nodes of the largest cluster of which forecasts are made. @default 10000 */
  readonly planNodes: number
  /** What is read of one namespace for a forecast, in characters of JSON. @default 134217728 */
  readonly planCharacters: number
  /** What one forecast may keep in memory, in MiB. @default what the memory limit of the container leaves, at most 1536 */
  readonly planMebibytes: number
  /** Streams side by side. @default 1000 */
  readonly streams: number
  /** Streams side by side of one caller, by user name. @default 100 */
  readonly streamsOfCaller: number
  /** How long the reader of a stream may take nothing of what was sent, in milliseconds, before it is cut off. @default 10000 */
  readonly streamPatienceMs: number
  /** How late the event loop may be before requests are turned away, in milliseconds: the wall clock counts. @default 2000 */
  readonly loopLateMs: number
  /** How often a stream says that it lives, in milliseconds. @default 15000 */
  readonly heartbeatMs: number
}

/** @see Limits */
export const defaultLimits: Limits = {
  requestsPerSecond: 200,
  guessesPerSecond: 100,
  unauthenticatedPerAddress: 200,
  connections: 1_024,
  connectionsOfAddress: 512,
  receivedBytes: 64 * 1024 * 1024,
  receivedBytesOfUser: 8 * 1024 * 1024,
  bodyBytes: 64 * 1024,
  manifestBytes: 1024 * 1024,
  requestMs: 15_000,
  planMs: 60_000,
  planNodes: 10_000,
  planCharacters: 128 * 1024 * 1024,
  planMebibytes: planMemory(),
  streams: 1_000,
  streamsOfCaller: 100,
  streamPatienceMs: 10_000,
  loopLateMs: 2_000,
  heartbeatMs: 15_000,
}
