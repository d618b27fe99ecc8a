import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Small files whose tests take longest: without figures of an earlier run, files are begun by size, and these would be last. */
const longest: readonly string[] = [
  'test/chart/life.slow.test.ts',
  'test/faults/faults.slow.test.ts',
  'test/scenarios/failpoints.slow.test.ts',
]

/** Begins with the files that take longest, so that no core waits for one of them at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = longest.findIndex((path) => moduleId.endsWith(`/${path}`))
  return at === -1 ? longest.length : at
}
