/** What the process takes beside the thread of a forecast, in MiB: at rest on 1,000 nodes 160, and what is read for the forecast. */
const OWN_MEBIBYTES = 320
const [LEAST_MEBIBYTES, MOST_MEBIBYTES] = [64, 1_536]

/**
 * How much a forecast may keep in memory, in MiB: what the limit of the container leaves, so that no forecast ends the process.
 *
 * @param limitBytes of the container; 0, or more than any machine has, where there is none
 */
export function planMemory(limitBytes: number = process.constrainedMemory()): number {
  if (limitBytes === 0) return MOST_MEBIBYTES
  return Math.min(MOST_MEBIBYTES, Math.max(LEAST_MEBIBYTES, Math.floor(limitBytes / 2 ** 20) - OWN_MEBIBYTES))
}
