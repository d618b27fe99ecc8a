import type { AdmissionMode } from '@tranche/controller'
import { type ApiProcessOptions, toApiProcessOptions } from './options/api-process-options.ts'
import { type PortOptions, toHealthOptions, toMetricsOptions } from './options/port-options.ts'
import { type ScopeOptions, toScopeOptions } from './options/scope-options.ts'
import { toWebhookOptions, type WebhookProcessOptions } from './options/webhook-options.ts'
import type { RedisOptions } from './redis-options.ts'
import { type DelayRange, invalid, misplaced, parseChoice, parseDecimal, parseDelayRange, parseWhole } from './option-values.ts'

/** Options of `dev` and `sim`. */
export interface SimulationOptions {
  readonly command: 'dev' | 'sim'
  /** 0 to 10,000. */
  readonly nodes: number
  /** Divides the durations of kubelets and nothing else; 0.01 to 1000. */
  readonly speed: number
  readonly virtual: boolean
  readonly seed: number
  /** 0 picks a free port. */
  readonly port: number
  /** Path of the kubeconfig to write; undefined: in a new temporary folder. */
  readonly kubeconfig: string | undefined
  readonly readyFile: string | undefined
  readonly record: string | undefined
  readonly watchDelayMs: DelayRange
  /** Path of the faults to inject from the start. */
  readonly faults: string | undefined
  /** 0 picks a free port. */
  readonly faultsPort: number
  /** Port of the REST API, only in `dev`; 0 picks a free port. */
  readonly apiPort: number
  /** `empty`: no objects; `objects`: the demo objects; `release`: the demo objects and a release. */
  readonly demo: 'empty' | 'objects' | 'release'
  readonly exit: boolean
  readonly output: 'text' | 'json'
  readonly admission: DevAdmission
  /** Hosts that policies may query or notify, unparsed. */
  readonly allowHosts: readonly string[]
  readonly log: string | undefined
  readonly colors: boolean
}

/** Admission modes of `dev`, where simulator and controller share a process. */
export type DevAdmission = Extract<AdmissionMode, 'none' | 'inProcess'>

/** Options of `all-in-one`, `controller`, `executor` and `api`. */
export interface ProcessOptions {
  readonly command: 'all-in-one' | 'controller' | 'executor' | 'api'
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly identity: string | undefined
  readonly logLevel: LogLevel
  readonly admission: AdmissionMode
  /** Null if no webhooks are served. */
  readonly webhook: WebhookProcessOptions | null
  readonly leaderElection: boolean
  readonly scope: ScopeOptions
  /** Hosts that policies may query or notify, unparsed. */
  readonly allowHosts: readonly string[]
  /** 1 to 64. */
  readonly workers: number
  readonly redis: RedisOptions
  /** Null if no REST API is served. */
  readonly api: ApiProcessOptions | null
  /** Address of the health probes; null: none. `api` serves them on the port of the REST API. */
  readonly health: PortOptions | null
  /** Address of the metrics of controller and executor; null: no metrics are recorded. */
  readonly metrics: PortOptions | null
}

/** Options of `lint`. */
export interface LintOptions {
  /** Files, folders, or `-` for standard input; at least one. */
  readonly files: readonly string[]
  /** Whether to include subfolders. */
  readonly recursive: boolean
  readonly output: 'text' | 'json'
  /** Hosts that the controller is started with, unparsed; empty: unknown, and hosts are not checked. */
  readonly allowHosts: readonly string[]
  readonly colors: boolean
}

const logLevels = ['debug', 'info', 'warn', 'error'] as const
/** Lowest level that is logged. */
export type LogLevel = (typeof logLevels)[number]

/** Option values of the parser: strings, booleans, string lists or undefined. */
type Values = Readonly<Record<string, unknown>>

/** @throws {AppError} OPTION_INVALID */
export function toSimulationOptions(command: 'dev' | 'sim', values: Values): SimulationOptions {
  if (values['demoAsked'] === true && values['demoRefused'] === true)
    throw misplaced('--no-demo', 'cannot be combined with --demo', 'leave one of them out: an empty cluster has nothing to release')
  const options: SimulationOptions = {
    command,
    nodes: parseWhole('--nodes', text(values, 'nodes') ?? '30', { min: 0, max: 10_000 }),
    speed: parseDecimal('--speed', text(values, 'speed') ?? '1', { min: 0.01, max: 1000 }),
    virtual: values['virtual'] === true,
    seed: parseWhole('--seed', text(values, 'seed') ?? '1', { min: 0, max: 0xffff_ffff }),
    port: parseWhole('--port', text(values, 'port') ?? '0', { min: 0, max: 65_535 }),
    kubeconfig: path(values, 'kubeconfig', '--kubeconfig'),
    readyFile: path(values, 'readyFile', '--ready-file'),
    record: path(values, 'record', '--record'),
    watchDelayMs: parseDelayRange('--watch-delay-ms', text(values, 'watchDelayMs') ?? '0-20'),
    faults: path(values, 'faults', '--faults'),
    faultsPort: parseWhole('--faults-port', text(values, 'faultsPort') ?? '0', { min: 0, max: 65_535 }),
    apiPort: parseWhole('--api-port', text(values, 'apiPort') ?? '0', { min: 0, max: 65_535 }),
    demo: values['demo'] === true ? 'release' : values['demo'] === false ? 'empty' : 'objects',
    exit: values['exit'] === true,
    output: values['output'] === undefined ? 'text' : parseChoice('--output', text(values, 'output') ?? '', ['json']),
    admission: parseDevAdmission(text(values, 'admission') ?? 'none'),
    allowHosts: allowHosts(values),
    log: path(values, 'log', '--log'),
    colors: values['color'] !== false,
  }
  checkTogether(options)
  return options
}

/** @throws {AppError} OPTION_INVALID */
export function toProcessOptions(command: ProcessOptions['command'], values: Values): ProcessOptions {
  const queue = text(values, 'queue')
  if (queue !== undefined && queue !== 'in-process') throw invalid('--queue', queue, 'give in-process, or use --redis URL instead')
  if (queue !== undefined && values['redis'] !== undefined)
    throw misplaced('--queue in-process', 'cannot be combined with --redis', 'leave one of them out')
  const admission = parseChoice('--admission', text(values, 'admission') ?? 'none', ['none', 'policy', 'webhook'])
  return {
    command,
    kubeconfig: path(values, 'kubeconfig', '--kubeconfig'),
    context: text(values, 'context'),
    identity: text(values, 'identity'),
    logLevel: parseChoice('--log-level', text(values, 'logLevel') ?? 'info', logLevels),
    admission,
    webhook: toWebhookOptions(admission, values),
    leaderElection: values['leaderElection'] !== false,
    scope: toScopeOptions(values),
    allowHosts: allowHosts(values),
    workers: parseWhole('--workers', text(values, 'workers') ?? '4', { min: 1, max: 64 }),
    redis: {
      url: text(values, 'redis'),
      passwordFile: path(values, 'redisPasswordFile', '--redis-password-file'),
      ca: path(values, 'redisCa', '--redis-ca'),
      prefix: parsePrefix(text(values, 'redisPrefix')),
    },
    api: command === 'api' || values['apiPort'] !== undefined ? toApiProcessOptions(values) : null,
    health: toHealthOptions(values),
    metrics: toMetricsOptions(values),
  }
}

/** @throws {AppError} OPTION_INVALID */
export function toLintOptions(values: Values): LintOptions {
  const files = (Array.isArray(values['filename']) ? values['filename'] : []).map(String)
  if (files.length === 0) throw misplaced('lint', 'requires a file', 'add -f FILE, or -f - for standard input')
  if (files.includes('')) throw invalid('--filename', '', 'give the path of a file, or - for standard input')
  return {
    files: [...new Set(files)],
    recursive: values['recursive'] === true,
    output: values['output'] === undefined ? 'text' : parseChoice('--output', text(values, 'output') ?? '', ['json']),
    allowHosts: allowHosts(values),
    colors: values['color'] !== false,
  }
}

function checkTogether({ demo, virtual, exit, output, ...options }: SimulationOptions): void {
  if (demo !== 'release') {
    if (virtual) throw misplaced('--virtual', 'requires --demo', 'add --demo: virtual time runs only during a release')
    if (exit) throw misplaced('--exit', 'requires --demo', 'add --demo, or leave it out')
    if (output === 'json') throw misplaced('--output json', 'requires --demo', 'add --demo, whose result is printed')
  }
  if (!virtual) return
  if (options.allowHosts.length > 0)
    throw misplaced(
      '--allow-host',
      'cannot be combined with --virtual',
      'leave one of them out: in virtual time there are no requests to other hosts',
    )
  const served = [
    ['--kubeconfig', options.kubeconfig],
    ['--ready-file', options.readyFile],
    ['--port', options.port === 0 ? undefined : options.port],
    ['--faults-port', options.faultsPort === 0 ? undefined : options.faultsPort],
    ['--api-port', options.apiPort === 0 ? undefined : options.apiPort],
  ] as const
  for (const [option, value] of served)
    if (value !== undefined)
      throw misplaced(option, 'cannot be combined with --virtual', 'leave one of them out: in virtual time nothing is served')
}

function parsePrefix(value: string | undefined): string | undefined {
  if (value !== undefined && !/^[\w.-]{1,64}$/.test(value))
    throw invalid('--redis-prefix', value, 'give up to 64 letters, digits, dots, hyphens and underscores')
  return value
}

function allowHosts(values: Values): readonly string[] {
  return Array.isArray(values['allowHost']) ? values['allowHost'].map(String) : []
}

function parseDevAdmission(value: string): DevAdmission {
  return parseChoice('--admission', value, ['none', 'in-process']) === 'none' ? 'none' : 'inProcess'
}

function path(values: Values, name: string, option: string): string | undefined {
  const value = text(values, name)
  if (value === '') throw invalid(option, value, 'give the path of a file')
  return value
}

function text(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}
