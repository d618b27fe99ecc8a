import { invalid, misplaced, parseChoice, parseWhole, pathOf, textOf, textsOf, type Values } from '@tranche/cli'
import type { AdmissionMode, GroupSettings } from '@tranche/controller'
import type { RedisOptions } from '@tranche/doctor'
import { type ApiProcessOptions, toApiProcessOptions } from './api-process-options.ts'
import { type DrainOptions, toDrainOptions } from './drain-options.ts'
import { toGroupOptions } from './group-options.ts'
import { toDowntimeNamespace, type NodeLockOptions, toNodeLockOptions } from './node-lock-options.ts'
import { type PinOptions, toPinOptions } from './pin-options.ts'
import { type PortOptions, toHealthOptions, toMetricsOptions } from './port-options.ts'
import { type ScopeOptions, toScopeOptions } from './scope-options.ts'
import { toWebhookOptions, type WebhookProcessOptions } from './webhook-options.ts'

/** Options of `all-in-one`, `controller`, `executor` and `api`. */
export interface ProcessOptions extends DrainOptions, PinOptions {
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
  /** Undefined if policies may not name a group. */
  readonly groups: GroupSettings | undefined
  /** Hosts that policies may query or notify, unparsed. */
  readonly allowHosts: readonly string[]
  /** Whether the controller reads which ConfigMaps of templates are immutable. */
  readonly readConfig: boolean
  /** 1 to 64. */
  readonly workers: number
  /** Whether policies may check that nodes have room. */
  readonly room: boolean
  /** Whether executors may create helper pods that pull images. */
  readonly prePull: boolean
  /** Undefined if policies may not lock nodes. */
  readonly nodeLocks: NodeLockOptions | undefined
  /** Namespace of the Leases that remember downtime; undefined if policies may not limit it. */
  readonly downtimeNamespace: string | undefined
  readonly redis: RedisOptions
  /** Null if no REST API is served. */
  readonly api: ApiProcessOptions | null
  /** Address of the health probes; null: none. `api` serves them on the port of the REST API. */
  readonly health: PortOptions | null
  /** Address of the metrics of controller and executor; null: no metrics are recorded. */
  readonly metrics: PortOptions | null
}

const logLevels = ['debug', 'info', 'warn', 'error'] as const
/** Lowest level that is logged. */
export type LogLevel = (typeof logLevels)[number]

/** @throws {AppError} OPTION_INVALID */
export function toProcessOptions(command: ProcessOptions['command'], values: Values): ProcessOptions {
  const queue = textOf(values, 'queue')
  if (queue !== undefined && queue !== 'in-process') throw invalid('--queue', queue, 'give in-process, or use --redis URL instead')
  if (queue !== undefined && values['redis'] !== undefined)
    throw misplaced('--queue in-process', 'cannot be combined with --redis', 'leave one of them out')
  const admission = parseChoice('--admission', textOf(values, 'admission') ?? 'none', ['none', 'policy', 'webhook'])
  return {
    command,
    kubeconfig: pathOf(values, 'kubeconfig', '--kubeconfig'),
    context: textOf(values, 'context'),
    identity: textOf(values, 'identity'),
    logLevel: parseChoice('--log-level', textOf(values, 'logLevel') ?? 'info', logLevels),
    admission,
    webhook: toWebhookOptions(admission, values),
    leaderElection: values['leaderElection'] !== false,
    scope: toScopeOptions(values),
    groups: toGroupOptions(values),
    allowHosts: textsOf(values, 'allowHost'),
    readConfig: values['readConfig'] === true,
    ...toDrainOptions(values),
    nodeLocks: toNodeLockOptions(values),
    downtimeNamespace: toDowntimeNamespace(values),
    ...toPinOptions(values),
    workers: parseWhole('--workers', textOf(values, 'workers') ?? '4', { min: 1, max: 64 }),
    room: values['room'] === true,
    prePull: values['prePull'] === true,
    redis: {
      url: textOf(values, 'redis'),
      passwordFile: pathOf(values, 'redisPasswordFile', '--redis-password-file'),
      ca: pathOf(values, 'redisCa', '--redis-ca'),
      prefix: parsePrefix(textOf(values, 'redisPrefix')),
    },
    api: command === 'api' || values['apiPort'] !== undefined ? toApiProcessOptions(values) : null,
    health: toHealthOptions(values),
    metrics: toMetricsOptions(values),
  }
}

function parsePrefix(value: string | undefined): string | undefined {
  if (value !== undefined && !/^[\w.-]{1,64}$/.test(value))
    throw invalid('--redis-prefix', value, 'give up to 64 letters, digits, dots, hyphens and underscores')
  return value
}
