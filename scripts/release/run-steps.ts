/** Runs the steps of a release, one after the other. */

/** Phases in their order. Only the last one publishes; a real signature is also listed in a public log. */
export const releasePhases = ['check', 'build', 'rehearse', 'sign', 'publish'] as const
/** @see releasePhases */
export type ReleasePhase = (typeof releasePhases)[number]

/** One step. It may be run again after a failure. */
export interface ReleaseStep {
  readonly phase: ReleasePhase
  readonly name: string
  /** @returns what it did, in one line */
  run(): Promise<string>
}

/** What {@link runSteps} uses from outside. */
export interface StepPorts {
  /** Milliseconds of a clock that never goes back. */
  now(): number
  print(line: string): void
}

/** A step that failed, and what is published by then. */
export class StepFailure extends Error {
  /** @param published names of the publishing steps before it */
  constructor(step: ReleaseStep, published: readonly string[], cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`${step.phase}: ${step.name} failed: ${reason}\n${stateText(step, published)}`, { cause })
    this.name = 'StepFailure'
  }
}

/**
 * @returns duration of all steps in milliseconds
 * @throws {StepFailure} if a step fails; no later step runs
 * @throws {Error} if a step is behind one of a later phase
 */
export async function runSteps(steps: readonly ReleaseStep[], { now, print }: StepPorts): Promise<number> {
  checkOrder(steps)
  const startedMs = now()
  const published: string[] = []
  for (const step of steps) {
    const fromMs = now()
    try {
      const done = await step.run()
      print(`${step.phase.padEnd(8)}  ${step.name.padEnd(16)}  ${seconds(now() - fromMs).padStart(7)}  ${done}`)
    } catch (error) {
      throw new StepFailure(step, published, error)
    }
    if (step.phase === 'publish') published.push(step.name)
  }
  return now() - startedMs
}

/** A publishing step may fail behind its first request, so part of it may be published. */
function stateText({ phase, name }: ReleaseStep, published: readonly string[]): string {
  if (phase !== 'publish') return 'Nothing was published.'
  const before = published.length === 0 ? '' : `Published so far: ${published.join(', ')}. `
  return `${before}Perhaps published in part: ${name}. Run the same command again: it skips what exists.`
}

/** @returns a duration for people, such as `1.5 s` */
export function seconds(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1)} s`
}

function checkOrder(steps: readonly ReleaseStep[]): void {
  const order = steps.map(({ phase }) => releasePhases.indexOf(phase))
  const at = order.findIndex((phase, index) => phase < (order[index - 1] ?? 0))
  if (at !== -1) throw new Error(`step "${steps[at]!.name}" of phase ${steps[at]!.phase} is behind one of a later phase`)
}
