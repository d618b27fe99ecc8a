/** Processor time of the machine and of single processes. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const clockTicksPerSecond = 100

/** Processor time at one moment. */
export interface MachineTime {
  readonly totalSeconds: number
  readonly idleSeconds: number
  readonly atMs: number
}

/** @see proc_stat(5) */
export function machineTime(): MachineTime {
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = /^cpu\s+(.*)$/m
    .exec(readFileSync('/proc/stat', 'utf8'))![1]!
    .split(' ')
    .map((ticks) => Number(ticks) / clockTicksPerSecond)
  const busy = user + nice + system + irq + softirq + steal
  return { totalSeconds: busy + idle + iowait, idleSeconds: idle + iowait, atMs: performance.now() }
}

/** @returns the idle part of all processors since `before`, from 0 to 1 */
export function idleShareSince(before: MachineTime): number {
  const now = machineTime()
  return (now.idleSeconds - before.idleSeconds) / (now.totalSeconds - before.totalSeconds)
}

/** Processors of the machine. */
export const processors = availableParallelism()

/** @returns processor time that a process has used so far, in seconds. @see proc_pid_stat(5) */
export function busySeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond
}

/** @returns resident set size of a process, in MiB */
export function residentMebibytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
