import type { Shortage } from './room.ts'

/** @returns the shortages in words: `cpu: 500m requested, 200m of 4 free; TCP port 9100 is taken by kube-system/node-exporter` */
export function shortageText(shortages: readonly Shortage[]): string {
  return shortages
    .map((shortage) =>
      shortage.kind === 'resource'
        ? `${shortage.resource}: ${shortage.requested} requested, ${shortage.free} of ${shortage.allocatable} free`
        : `${shortage.protocol} port ${shortage.port} is taken by ${shortage.takenBy}`,
    )
    .join('; ')
}
