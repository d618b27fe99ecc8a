import type { AdmissionMode } from '@tranche/controller'
import { type ApiProcessOptions, toApiProcessOptions } from './options/api-process-options.ts'
import { type PortOptions, toHealthOptions, toMetricsOptions } from './options/port-options.ts'
import { type ScopeOptions, toScopeOptions } from './options/scope-options.ts'
import { toWebhookOptions, type WebhookProcessOptions } from './options/webhook-options.ts'
import type { RedisOptions } from './redis-options.ts'
import { type DelayRange, invalid, misplaced, parseChoice, parseDecimal, parseDelayRange, parseWhole } from './option-values.ts'

/** What `dev` and `sim` are told. */
export interface SimulationOptions {
  readonly command: 'dev' | 'sim'
  /** 0 to 10,000. */
  readonly nodes: number
  /** Divides the durations of kubelets and nothing else; 0.01 to 1000. */
  readonly speed: number
  readonly virtual: boolean
  readonly seed: number
  /** 0 takes a free port. */
  readonly port: number
  /** Where to write the kubeconfig; undefined: into a new temporary folder. */
  readonly kubeconfig: string | undefined
  readonly readyFile: string | undefined
  readonly record: string | undefined
  readonly watchDelayMs: DelayRange
  /** File of faults to begin with. */
  readonly faults: string | undefined
  /** 0 takes a free port. */
  readonly faultsPort: number
  /** Port of the REST API, in `dev` alone; 0 takes a free one. */
  readonly apiPort: number
  /** `empty`: no objects; `objects`: the demonstration's objects; `release`: a release of them as well. */
  readonly demo: 'empty' | 'objects' | 'release'
  readonly exit: boolean
  readonly output: 'text' | 'json'
  readonly admission: DevAdmission
  /** Hosts that policies may have asked, as they were written. */
  readonly allowHosts: readonly string[]
  readonly log: string | undefined
  readonly colors: boolean
}

/** Who sees an update of a DaemonSet before it is stored, where simulator and controller are one process. */
export type DevAdmission = Extract<AdmissionMode, 'none' | 'inProcess'>

/** What `all-in-one`, `controller`, `executor` and `api` are told. */
export interface ProcessOptions {
  readonly command: 'all-in-one' | 'controller' | 'executor' | 'api'
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly identity: string | undefined
  readonly logLevel: LogLevel
  readonly admission: AdmissionMode
  /** How webhooks are served; null: not at all. */
  readonly webhook: WebhookProcessOptions | null
  readonly leaderElection: boolean
  readonly scope: ScopeOptions
  /** Hosts that policies may have asked, as they were written. */
  readonly allowHosts: readonly string[]
  /** 1 to 64. */
  readonly workers: number
  readonly redis: RedisOptions
  /** How the REST API is served; null: not at all. */
  readonly api: ApiProcessOptions | null
  /** Where it says how it is; null: nowhere. The REST API alone says it where it is served. */
  readonly health: PortOptions | null
  /** Where controller and executor tell their metrics; null: nowhere, and nothing is counted. */
  readonly metrics: PortOptions | null
}

/** What `lint` is told. */
export interface LintOptions {
  /** Files, folders, or `-` for standard input; at least one. */
  readonly files: readonly string[]
  /** Whether the folders in a folder are looked into too. */
  readonly recursive: boolean
  readonly output: 'text' | 'json'
  /** Hosts that the controller is started with, as they were written; none: they are not known. */
  readonly allowHosts: readonly string[]
  readonly colors: boolean
}

const logLevels = ['debug', 'info', 'warn', 'error'] as const
/** The least that is logged. */
export type LogLevel = (typeof logLevels)[number]

/** As the parser hands them over: strings, booleans, or nothing. */
type Values = Readonly<Record<string, unknown>>

/** @throws {AppError} OPTION_INVALID */
export function toSimulationOptions(command: 'dev' | 'sim', values: Values): SimulationOptions {
  if (values['demoAsked'] === true && values['demoRefused'] === true)
    throw misplaced('--no-demo', 'stands beside --demo', 'leave one of them out: there is nothing to release in an empty cluster')
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
  if (queue !== undefined && queue !== 'in-process') throw invalid('--queue', queue, 'give in-process, or --redis URL in its place')
  if (queue !== undefined && values['redis'] !== undefined)
    throw misplaced('--queue in-process', 'stands beside --redis', 'leave one of them out')
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
  if (files.length === 0) throw misplaced('lint', 'is given no file', 'add -f FILE, or -f - to read standard input')
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
    if (virtual)
      throw misplaced('--virtual', 'stands without --demo', 'add --demo: virtual time runs as long as there is a release to perform')
    if (exit) throw misplaced('--exit', 'stands without --demo', 'add --demo, or leave it out')
    if (output === 'json')
      throw misplaced('--output json', 'stands without --demo', 'add --demo: the result of the demonstration is what it prints')
  }
  if (!virtual) return
  if (options.allowHosts.length > 0)
    throw misplaced('--allow-host', 'stands beside --virtual', 'leave one of them out: virtual time waits for no answer from outside')
  const served = [
    ['--kubeconfig', options.kubeconfig],
    ['--ready-file', options.readyFile],
    ['--port', options.port === 0 ? undefined : options.port],
    ['--faults-port', options.faultsPort === 0 ? undefined : options.faultsPort],
    ['--api-port', options.apiPort === 0 ? undefined : options.apiPort],
  ] as const
  for (const [option, value] of served)
    if (value !== undefined)
      throw misplaced(option, 'stands beside --virtual', 'leave one of them out: in virtual time nothing is served to others')
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
