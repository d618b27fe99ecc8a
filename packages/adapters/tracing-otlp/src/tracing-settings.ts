import { AppError } from '@tranche/errors'

/** Destination and limits of trace export. */
export interface TracingSettings {
  /** URL of the receiver, with its path. */
  readonly url: string
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly sampler: SamplerName
  /** Share of new traces that are exported, from 0 to 1; for ratio samplers. */
  readonly ratio: number
  /** Undefined: the one in the resource attributes, else `tranche`. */
  readonly serviceName: string | undefined
  /** How long spans are collected before they are sent, in milliseconds. */
  readonly scheduleDelayMs: number
  /** Maximum number of spans waiting to be sent; further ones are dropped. */
  readonly maxQueue: number
  /** Maximum number of spans in one message. */
  readonly maxBatch: number
  /** Limit of one message with its retries, in milliseconds. */
  readonly timeoutMs: number
}

/** Values of OTEL_TRACES_SAMPLER. */
export type SamplerName = (typeof samplers)[number]

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
const protocols = ['http/protobuf', 'http/json'] as const
/** Less than the 10 s of the specification: a message in flight must not outlast the end of the process. */
const TIMEOUT_MS = 5_000

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the variables that OpenTelemetry defines. The library itself reads headers, compression and certificates
 * (`OTEL_EXPORTER_OTLP_HEADERS`, `_COMPRESSION`, `_CERTIFICATE`, …) and `OTEL_RESOURCE_ATTRIBUTES`.
 *
 * @returns null if tracing is off: no endpoint, OTEL_TRACES_EXPORTER=none, OTEL_SDK_DISABLED=true
 * @throws {AppError} OPTION_INVALID
 */
export function readTracingSettings(env: Environment): TracingSettings | null {
  const url = urlFrom(env)
  if (url === null || isTrue(env['OTEL_SDK_DISABLED'])) return null
  const exporter = env['OTEL_TRACES_EXPORTER']?.trim() || 'otlp'
  if (exporter === 'none') return null
  if (exporter !== 'otlp') throw refused('OTEL_TRACES_EXPORTER', exporter, 'Use otlp, or none to send no traces.')
  return {
    url,
    protocol: chosen(env, ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'], protocols) ?? 'http/protobuf',
    sampler: chosen(env, ['OTEL_TRACES_SAMPLER'], samplers) ?? 'parentbased_always_on',
    ratio: number(env, ['OTEL_TRACES_SAMPLER_ARG'], { most: 1, what: 'a number from 0 to 1' }) ?? 1,
    serviceName: env['OTEL_SERVICE_NAME']?.trim() || undefined,
    scheduleDelayMs: number(env, ['OTEL_BSP_SCHEDULE_DELAY'], milliseconds) ?? 5_000,
    maxQueue: number(env, ['OTEL_BSP_MAX_QUEUE_SIZE'], count) ?? 2_048,
    maxBatch: number(env, ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE'], count) ?? 512,
    timeoutMs: number(env, ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'], milliseconds) ?? TIMEOUT_MS,
  }
}

function urlFrom(env: Environment): string | null {
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim()
  if (own) return checkedUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own)
  const shared = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim()
  if (!shared) return null
  return `${checkedUrl('OTEL_EXPORTER_OTLP_ENDPOINT', shared).replace(/\/$/, '')}/v1/traces`
}

function checkedUrl(variable: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refused(variable, text, 'Use the URL of an OTLP over HTTP receiver: http://collector.example:4318')
  if (url.username !== '' || url.password !== '')
    throw refused(variable, `${url.protocol}//…@${url.host}`, 'Remove the credentials and set them in OTEL_EXPORTER_OTLP_HEADERS.')
  return text
}

interface Bounds {
  readonly most: number
  readonly isWhole?: true
  readonly what: string
}

const milliseconds: Bounds = { most: 600_000, isWhole: true, what: 'whole milliseconds from 0 to 600000' }
const count: Bounds = { most: 100_000, isWhole: true, what: 'a whole number from 0 to 100000' }

function number(env: Environment, variables: readonly string[], { most, isWhole, what }: Bounds): number | undefined {
  for (const variable of variables) {
    const text = env[variable]?.trim()
    if (!text) continue
    const value = Number(text)
    if (!(value >= 0 && value <= most) || (isWhole === true && !Number.isInteger(value))) throw refused(variable, text, `Give ${what}.`)
    return value
  }
  return undefined
}

function chosen<Choice extends string>(env: Environment, variables: readonly string[], choices: readonly Choice[]): Choice | undefined {
  for (const variable of variables) {
    const text = env[variable]?.trim()
    if (!text) continue
    const choice = choices.find((one) => one === text)
    if (choice === undefined) throw refused(variable, text, `Give one of ${choices.join(', ')}.`)
    return choice
  }
  return undefined
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true'
}

function refused(variable: string, value: string, hint: string): AppError {
  return new AppError('OPTION_INVALID', `${variable} does not take ${JSON.stringify(value)}`, {
    details: { option: variable, value },
    hint,
  })
}
