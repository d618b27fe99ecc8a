export { type BullmqQueueOptions, createBullmqQueue, defaultTiming, type QueueTiming } from './bullmq-queue.ts'
export { checkRedis, type CheckRedisOptions, type RedisAdvice } from './check-redis.ts'
export { addressText, type RedisAddress, type RedisHost, type RedisSettings, type RedisTls } from './redis-settings.ts'
export type { WorkerTiming } from './redis-worker.ts'
