/**
 * CPU time (ms) that this thread has used so far. Other work on the machine does not add to it, so a test may demand that a call ends early
 * where it would otherwise take many times longer.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
