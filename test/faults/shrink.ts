import type { Incident, Schedule } from './schedule.ts'

/**
 * Removes incidents, first half of them and then one by one, while the rest still fails.
 *
 * @param mostRuns maximum number of calls of `fails`
 * @param fails whether the schedule breaks the guarantee in question
 * @returns a schedule that fails, with the fewest incidents found
 */
export async function shrink(schedule: Schedule, mostRuns: number, fails: (smaller: Schedule) => Promise<boolean>): Promise<Schedule> {
  let runs = 0
  let incidents = schedule.incidents
  const failsWith = async (fewer: readonly Incident[]): Promise<boolean> => runs++ < mostRuns && fails({ ...schedule, incidents: fewer })
  for (let size = Math.ceil(incidents.length / 2); size >= 1 && runs < mostRuns; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < incidents.length && runs < mostRuns; ) {
      const fewer = [...incidents.slice(0, at), ...incidents.slice(at + size)]
      if (await failsWith(fewer)) incidents = fewer
      else at += size
    }
  return { ...schedule, incidents }
}
