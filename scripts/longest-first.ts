import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Small files with long tests. Without figures of an earlier run, files start in order of size, and these would be last. */
const longest: readonly string[] = [
  'test/chart/life.slow.test.ts',
  'test/faults/faults.slow.test.ts',
  'test/scenarios/failpoints.slow.test.ts',
]

/** Starts with the longest files, so that no core waits for one of them at the end. */
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
