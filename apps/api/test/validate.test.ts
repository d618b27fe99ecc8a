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
