import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testsOfPackage } from '../../scripts/tests-of-package.ts'

const core = 'packages/core'

describe('testsOfPackage', () => {
  it.each([
    ['the folder of the same name', `${core}/fence/src/pass/plan-pass.ts`, `${core}/fence/test/pass/plan-pass.test.ts`],
    ['the folder of an edited helper of tests', `${core}/fence/test/pass/pass-notation.ts`, `${core}/fence/test/pass/plan-pass.test.ts`],
    [
      'the nearest folder above',
      `${core}/planner/src/rollout/states/resting-state.ts`,
      `${core}/planner/test/rollout/plan-rollout.test.ts`,
    ],
    ['a test named after the file', `${core}/verdict/src/moved-times.ts`, `${core}/verdict/test/moved-times.test.ts`],
  ])('runs the tests of %s', (_what, edited, test) => {
    expect(testsOfPackage(resolve(edited))).toContain(resolve(test))
  })

  it('leaves out other folders, property tests and slow tests', () => {
    const tests = testsOfPackage(resolve(`${core}/planner/src/rollout/states/resting-state.ts`)) ?? []
    expect(tests.filter((test) => !test.includes('/planner/test/rollout/') || /\.(property|slow|browser)\./.test(test))).toEqual([])
  })

  it.each([`${core}/fence/test/pass/plan-pass.property.test.ts`, 'test/scenarios/stage.ts', 'scripts/verify.ts'])(
    'leaves the choice to vitest after an edit of %s',
    (edited) => {
      expect(testsOfPackage(resolve(edited))).toBeUndefined()
    },
  )
})
