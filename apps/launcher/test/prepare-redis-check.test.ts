import { describe, expect, it } from 'vitest'
import { freePort } from '../../../scripts/free-port.ts'
import { prepareRedisCheck } from '../src/redis/prepare-redis-check.ts'

const none = { url: undefined, passwordFile: undefined, ca: undefined, prefix: undefined }

describe('the check of Redis for the doctor', () => {
  it('is absent if neither options nor environment name a Redis', async () => {
    await expect(prepareRedisCheck(none, {})).resolves.toBeNull()
  })

  it('refuses invalid options before it sends a request', async () => {
    await expect(prepareRedisCheck({ ...none, prefix: 'a' }, {})).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })

  it('fails with the address of a Redis that does not answer, and without its password', async () => {
    const port = await freePort()
    const check = await prepareRedisCheck(none, { TRANCHE_REDIS_URL: `redis://me:secret@127.0.0.1:${port}` })
    const failed = check?.(new AbortController().signal)
    await expect(failed).rejects.toMatchObject({
      code: 'REDIS_UNREACHABLE',
      message: expect.stringContaining(`127.0.0.1:${port}`) as string,
    })
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining('secret') as string })
  })
})
