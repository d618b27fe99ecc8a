import { expect, it } from 'vitest'
import { createValidator } from '../src/checks/create-validator.ts'
import { validateManifests } from '../src/checks/validate-manifests.ts'

const { signal } = new AbortController()
const long = Array.from(
  { length: 300 },
  (_, at) => `apiVersion: rollouts.kruise.io/v1beta1\nkind: Rollout\nmetadata: {name: r${at}, nmae: wrong}\n`,
).join('---\n')

it('checks manifests in a thread, one check per user at a time', async () => {
  const validate = createValidator()
  let isThere = false
  const first = validate(long, { by: 'ann', signal }).finally(() => (isThere = true))
  await expect(validate(long, { by: 'ann', signal })).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'a check of manifests for user "ann" is already running or waiting',
  })
  // Short manifests too: a few kilobytes can take long.
  await expect(validate('', { by: 'ann', signal })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(isThere).toBe(false)
  expect(await first).toEqual(validateManifests(long))
})

it('terminates the thread of a client that disconnects, and frees its slot', async () => {
  const validate = createValidator()
  const leaving = new AbortController()
  const left = validate(long, { by: 'ann', signal: leaving.signal })
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  await expect(validate(long, { by: 'ann', signal })).resolves.toMatchObject({ valid: false })
})

it('lists a thousand findings of many documents, and one that says how many there are more', () => {
  const documents = Array.from(
    { length: 1_500 },
    () => `apiVersion: rollouts.kruise.io/v1beta1\nkind: Rollout\nmetadata: {name: ${'x'.repeat(500)}}\n`,
  )
  const { valid, problems } = validateManifests(documents.join('---\n'))
  expect(valid).toBe(false)
  expect(problems).toHaveLength(1_001)
  expect(problems.at(-1)).toMatchObject({ rule: 'MoreProblems', document: 1_001, path: 'the document' })
  expect(problems.at(-1)!.message).toMatch(/^an answer lists 1000 findings; this and later documents have 500 more$/)
  expect(Math.max(...problems.map(({ object }) => object.length))).toBe(400)
})
