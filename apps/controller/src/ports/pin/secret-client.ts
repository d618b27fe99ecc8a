import type { ConfigKind } from '@tranche/config'
import { AppError } from '@tranche/errors'
import { type KubeClient, KubeStatusError } from '@tranche/kube-client'

/** @returns the client for objects of a kind. Errors about Secrets contain no text that a server wrote */
export function clientFor(kind: ConfigKind, client: KubeClient): KubeClient {
  return kind === 'Secret' ? withoutServerText(client) : client
}

/**
 * An admission webhook may quote the object that it rejects. Errors reach logs, events and statuses, which more people may read than the Secret.
 */
function withoutServerText(client: KubeClient): KubeClient {
  return {
    ...client,
    get: (...call) => hidden(client.get(...call)),
    list: (...call) => hidden(client.list(...call)),
    create: (...call) => hidden(client.create(...call)),
    patch: (...call) => hidden(client.patch(...call)),
    delete: (...call) => hidden(client.delete(...call)),
  }
}

async function hidden<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw withoutText(error)
  }
}

function withoutText(error: unknown): unknown {
  if (error instanceof KubeStatusError) {
    const { status, reason, objectName, retryAfterMs, details } = error
    return new KubeStatusError({ attempt: String(details['attempt']), status, reason, objectName, retryAfterMs })
  }
  return error instanceof AppError ? new AppError(error.code, error.message, { details: error.details }) : error
}
