import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { testsOfPackage } from '../../scripts/tests-of-package.ts'

const planner = 'packages/core/planner'

it.each([`${planner}/src/pass/plan-pass.ts`, `${planner}/test/pass/generated-pass.ts`])(
  'an edit of %s runs the tests of planner',
  (file) => {
    const tests = (testsOfPackage(resolve(file)) ?? []).map((test) => resolve(test))
    expect(tests).toContain(resolve(planner, 'test/pass/plan-pass.test.ts'))
    expect(tests.filter((test) => !test.startsWith(resolve(planner, 'test')) || /\.(property|slow)\.test\.ts$/.test(test))).toEqual([])
  },
)

it.each([`${planner}/test/pass/plan-pass.property.test.ts`, 'test/scenarios/stage.ts', 'scripts/verify.ts'])(
  'an edit of %s leaves the choice to vitest',
  (file) => expect(testsOfPackage(resolve(file))).toBeUndefined(),
)
