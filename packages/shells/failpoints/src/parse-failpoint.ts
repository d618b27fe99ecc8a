import { AppError } from '@tranche/errors'
import { distance } from 'fastest-levenshtein'

/** Environment variable that names a failpoint. */
export const FAILPOINT_VARIABLE = 'TRANCHE_FAILPOINT'

/**
 * Effect at the point. `kill`: the process ends as by SIGKILL. `freeze`: the process stops as by SIGSTOP, until SIGCONT. `hang`: this call
 * continues an hour later, and the rest of the process at once.
 */
export type FailpointMode = 'kill' | 'freeze' | 'hang'

/** Failpoint at which a process crashes. */
export interface ArmedFailpoint {
  readonly point: string
  /** Which passing of the point triggers it, from 1. */
  readonly nth: number
  readonly mode: FailpointMode
}

const form = /^([^#:]+)(?:#(\d+))?(?::(.*))?$/
const MOST_NEAREST = 3

/**
 * Parses `<point>[#<nth>][:freeze|:hang]`, such as `executor.deletePod.after#3:freeze`.
 *
 * @param points failpoints of this program; {@link listFailpoints}
 * @throws {AppError} OPTION_INVALID, with the closest names if the point is unknown
 */
export function parseFailpoint(text: string, points: ReadonlyMap<string, 'promise' | 'value'>): ArmedFailpoint {
  const [, point = text, nth = '1', mode = 'kill'] = form.exec(text) ?? []
  const ends = points.get(point)
  if (ends === undefined)
    throw refuse(text, `The closest are ${nearest(point, [...points.keys()]).join(', ')}; tranche failpoints lists all.`)
  if (Number(nth) < 1) throw refuse(text, 'Use a whole number from 1 after #.')
  if (mode !== 'kill' && mode !== 'freeze' && mode !== 'hang') throw refuse(text, 'Use freeze or hang after the colon, or omit both.')
  if (mode === 'hang' && ends === 'value') throw refuse(text, `${point} returns at once and cannot hang; use freeze, or omit the mode.`)
  return { point, nth: Number(nth), mode }
}

function nearest(name: string, points: readonly string[]): readonly string[] {
  // A matching part of a name is closer than a name of similar length.
  const farness = (point: string): number => (point.toLowerCase().includes(name.toLowerCase()) ? 0 : point.length) + distance(name, point)
  return points.toSorted((a, b) => farness(a) - farness(b)).slice(0, MOST_NEAREST)
}

function refuse(value: string, hint: string): AppError {
  return new AppError('OPTION_INVALID', `${FAILPOINT_VARIABLE} does not take ${JSON.stringify(value)}`, {
    details: { option: FAILPOINT_VARIABLE, value },
    hint,
  })
}
