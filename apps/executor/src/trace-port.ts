import type { ExecutorPort } from '@tranche/partition-executor'
import type { Tracer } from '@tranche/telemetry'

/** Exports a span per pod deletion; returns the port itself if tracing is off. */
export function tracePort(port: ExecutorPort, tracer: Tracer): ExecutorPort {
  if (!tracer.isOn) return port
  return {
    ...port,
    deletePod(pod, signal) {
      const { permit, namespace, podName } = pod
      const attributes = {
        'k8s.namespace.name': namespace,
        'k8s.pod.name': podName,
        'k8s.pod.uid': permit.podUid,
        'k8s.node.name': permit.node,
      }
      return tracer.inside('delete pod', { attributes }, async (span) => {
        const isAccepted = await port.deletePod(pod, signal)
        span.set({ 'tranche.result': isAccepted ? 'accepted' : 'refused' })
        return isAccepted
      })
    },
  }
}
