import type { ApiKey } from '@tranche/api-client'
import type { ForecastRequest } from '@tranche/api-schema'
import { shellCommand } from '../../format/shell-command.ts'

/** Inputs of one forecast, as the form has them. */
export interface PlanInputs {
  /** `CONTAINER=IMAGE` or `IMAGE`; empty: the current release, or the next one. */
  readonly image: string
  /** Faults to assume, such as `node-7 fails`. */
  readonly faults: readonly string[]
  /** Minutes that a person takes to approve a step. */
  readonly approveMinutes: number
}

/** What the view shows: kept in the URL. */
export interface PlanQuery {
  readonly first: PlanInputs
  /** Null: one plan only. */
  readonly second: PlanInputs | null
  /** Text in the name of a node; every node without it. */
  readonly node: string
}

/** Inputs without a change or an assumption. */
export const noInputs: PlanInputs = { image: '', faults: [], approveMinutes: 0 }

/** Longest assumed approval, in minutes: a day. */
export const LONGEST_APPROVAL_MINUTES = 1_440
const MOST_FAULTS = 20
const LONGEST_FAULT = 200

/** @returns the plans of a URL; values that are no inputs count as absent */
export function planQueryOf(query: Readonly<Record<string, string>>): PlanQuery {
  return {
    first: inputsOf(query, ''),
    second: query['compare'] === 'true' ? inputsOf(query, 'b.') : null,
    node: query['node'] ?? '',
  }
}

function inputsOf(query: Readonly<Record<string, string>>, prefix: string): PlanInputs {
  const minutes = Number(query[`${prefix}approve`] ?? 0)
  return {
    image: (query[`${prefix}image`] ?? '').trim(),
    faults: faultsOf(query[`${prefix}if`] ?? ''),
    approveMinutes: Number.isInteger(minutes) && minutes >= 0 && minutes <= LONGEST_APPROVAL_MINUTES ? minutes : 0,
  }
}

/** @returns the query of the plans; defaults are left out */
export function urlQueryOf({ first, second, node }: PlanQuery): Readonly<Record<string, string>> {
  return {
    ...queryOfInputs(first, ''),
    ...(second !== null && { compare: 'true', ...queryOfInputs(second, 'b.') }),
    ...(node !== '' && { node }),
  }
}

function queryOfInputs({ image, faults, approveMinutes }: PlanInputs, prefix: string): Readonly<Record<string, string>> {
  return {
    ...(image !== '' && { [`${prefix}image`]: image }),
    ...(faults.length > 0 && { [`${prefix}if`]: faults.join(', ') }),
    ...(approveMinutes > 0 && { [`${prefix}approve`]: String(approveMinutes) }),
  }
}

/** @param text faults separated by commas or lines. @returns them; neither names nor zones contain commas */
export function faultsOf(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((fault) => fault.trim().replace(/\s+/g, ' '))
    .filter((fault) => fault !== '')
}

/** @returns why the server would refuse the inputs whatever the cluster; null if it would not */
export function faultyInput({ faults }: PlanInputs): string | null {
  if (faults.length > MOST_FAULTS) return `These are ${faults.length} faults; a forecast takes at most ${MOST_FAULTS}.`
  const long = faults.find((fault) => fault.length > LONGEST_FAULT)
  return long === undefined ? null : `A fault has ${long.length} characters; at most ${LONGEST_FAULT} are possible.`
}

/** @returns the request of the REST API */
export function requestOf({ image, faults, approveMinutes }: PlanInputs): ForecastRequest {
  return {
    ...(image !== '' && { image }),
    ...(faults.length > 0 && { if: [...faults] }),
    ...(approveMinutes > 0 && { approveAfterSeconds: approveMinutes * 60 }),
  }
}

/** @returns the same forecast as a command, which has no limit of time or nodes */
export function commandOf({ namespace, name }: ApiKey, { image, faults, approveMinutes }: PlanInputs): string {
  const words = [
    ...['tranche', 'plan', name, '--namespace', namespace],
    ...(image === '' ? [] : ['--image', image]),
    ...faults.flatMap((fault) => ['--if', fault]),
    ...(approveMinutes === 0 ? [] : ['--approve-after', `${approveMinutes}m`]),
  ]
  return shellCommand(words)
}
