/**
 * Lower bound of the time for independent jobs of known length on `lanes` equal lanes, in any order. It is the greatest of three times: the
 * longest job, the average load of a lane, and the load of the fullest lane. For each k, one lane gets at least k + 1 of the
 * k · lanes + 1 longest jobs; their k + 1 shortest take no longer than that lane.
 *
 * @param jobsMs lengths in milliseconds
 * @param lanes at least 1
 */
export function lowerBoundMs(jobsMs: readonly number[], lanes: number): number {
  const longestFirst = jobsMs.toSorted((a, b) => b - a)
  const sum = (jobs: readonly number[]): number => jobs.reduce((total, job) => total + job, 0)
  let bound = Math.max(longestFirst[0] ?? 0, sum(longestFirst) / lanes)
  for (let k = 1; k * lanes < longestFirst.length; k++)
    bound = Math.max(bound, sum(longestFirst.slice(Math.max(0, k * lanes - k), k * lanes + 1)))
  return bound
}
