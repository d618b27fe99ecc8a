import { misplaced, parseChoice, parseWhole, pathOf, textOf, textsOf, type Values } from '@tranche/cli'
import type { AdmissionMode } from '@tranche/controller'
import { type DelayRange, parseDecimal, parseDelayRange } from './simulation-values.ts'

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

/** @throws {AppError} OPTION_INVALID */
export function toSimulationOptions(command: 'dev' | 'sim', values: Values): SimulationOptions {
  if (values['demoAsked'] === true && values['demoRefused'] === true)
    throw misplaced('--no-demo', 'cannot be combined with --demo', 'leave one of them out: an empty cluster has nothing to release')
  const options: SimulationOptions = {
    command,
    nodes: parseWhole('--nodes', textOf(values, 'nodes') ?? '30', { min: 0, max: 10_000 }),
    speed: parseDecimal('--speed', textOf(values, 'speed') ?? '1', { min: 0.01, max: 1000 }),
    virtual: values['virtual'] === true,
    seed: parseWhole('--seed', textOf(values, 'seed') ?? '1', { min: 0, max: 0xffff_ffff }),
    port: parseWhole('--port', textOf(values, 'port') ?? '0', { min: 0, max: 65_535 }),
    kubeconfig: pathOf(values, 'kubeconfig', '--kubeconfig'),
    readyFile: pathOf(values, 'readyFile', '--ready-file'),
    record: pathOf(values, 'record', '--record'),
    watchDelayMs: parseDelayRange('--watch-delay-ms', textOf(values, 'watchDelayMs') ?? '0-20'),
    faults: pathOf(values, 'faults', '--faults'),
    faultsPort: parseWhole('--faults-port', textOf(values, 'faultsPort') ?? '0', { min: 0, max: 65_535 }),
    apiPort: parseWhole('--api-port', textOf(values, 'apiPort') ?? '0', { min: 0, max: 65_535 }),
    demo: values['demo'] === true ? 'release' : values['demo'] === false ? 'empty' : 'objects',
    exit: values['exit'] === true,
    output: values['output'] === undefined ? 'text' : parseChoice('--output', textOf(values, 'output') ?? '', ['json']),
    admission: parseDevAdmission(textOf(values, 'admission') ?? 'none'),
    allowHosts: textsOf(values, 'allowHost'),
    log: pathOf(values, 'log', '--log'),
    colors: values['color'] !== false,
  }
  checkTogether(options)
  return options
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

function parseDevAdmission(value: string): DevAdmission {
  return parseChoice('--admission', value, ['none', 'in-process']) === 'none' ? 'none' : 'inProcess'
}
