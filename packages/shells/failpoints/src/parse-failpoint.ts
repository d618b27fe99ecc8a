import { AppError } from '@tranche/errors'
import { distance } from 'fastest-levenshtein'

/** The environment variable that names a failpoint. */
export const FAILPOINT_VARIABLE = 'TRANCHE_FAILPOINT'

/**
 * What happens at the point. `kill`: the process ends as by SIGKILL. `freeze`: it stands still as by SIGSTOP, until
 * somebody lets it go on. `hang`: this one call goes on an hour later, and the rest of the process at once.
 */
export type FailpointMode = 'kill' | 'freeze' | 'hang'

/** Where a process is to crash. */
export interface ArmedFailpoint {
  readonly point: string
  /** At which passing of the point: from 1. */
  readonly nth: number
  readonly mode: FailpointMode
}

const form = /^([^#:]+)(?:#(\d+))?(?::(.*))?$/
const MOST_NEAREST = 3

/**
 * Reads `<point>[#<nth>][:freeze|:hang]`, as `executor.deletePod.after#3:freeze`.
 *
 * @param points those that this program passes; {@link listFailpoints}
 * @throws {AppError} OPTION_INVALID, with the nearest points where there is none of this name
 */
export function parseFailpoint(text: string, points: ReadonlyMap<string, 'promise' | 'value'>): ArmedFailpoint {
  const [, point = text, nth = '1', mode = 'kill'] = form.exec(text) ?? []
  const ends = points.get(point)
  if (ends === undefined)
    throw refuse(text, `The nearest of this program are ${nearest(point, [...points.keys()]).join(', ')}; tranche failpoints lists all.`)
  if (Number(nth) < 1) throw refuse(text, 'Give a whole number from 1 behind #: which time.')
  if (mode !== 'kill' && mode !== 'freeze' && mode !== 'hang')
    throw refuse(text, 'Give freeze or hang behind the colon, or leave both out.')
  if (mode === 'hang' && ends === 'value') throw refuse(text, `${point} is answered at once and cannot hang; give freeze, or leave it out.`)
  return { point, nth: Number(nth), mode }
}

function nearest(name: string, points: readonly string[]): readonly string[] {
  // A part of a name is nearer than a name that happens to be as short.
  const farness = (point: string): number => (point.toLowerCase().includes(name.toLowerCase()) ? 0 : point.length) + distance(name, point)
  return points.toSorted((a, b) => farness(a) - farness(b)).slice(0, MOST_NEAREST)
}

function refuse(value: string, hint: string): AppError {
  return new AppError('OPTION_INVALID', `${FAILPOINT_VARIABLE} does not take ${JSON.stringify(value)}`, {
    details: { option: FAILPOINT_VARIABLE, value },
    hint,
  })
}
