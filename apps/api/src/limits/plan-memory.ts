/** Memory of the process besides the forecast thread, in MiB: 160 when idle on 1,000 nodes, plus the objects read for the forecast. */
const OWN_MEBIBYTES = 320
const [LEAST_MEBIBYTES, MOST_MEBIBYTES] = [64, 1_536]

/**
 * Memory limit of a forecast, in MiB: the rest of the container's limit, so that a forecast does not get the process OOM-killed.
 *
 * @param limitBytes memory limit of the container; 0, or more than any machine has, if there is none
 */
export function planMemory(limitBytes: number = process.constrainedMemory()): number {
  if (limitBytes === 0) return MOST_MEBIBYTES
  return Math.min(MOST_MEBIBYTES, Math.max(LEAST_MEBIBYTES, Math.floor(limitBytes / 2 ** 20) - OWN_MEBIBYTES))
}
