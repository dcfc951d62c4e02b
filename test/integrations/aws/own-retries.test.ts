import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/aws/index.ts";
import { type CountingServer, FAILURES } from "../../servers/counting-server.ts";
import { count, fire, openHoldfire, serve } from "../shared/owning.ts";

const clientOf = ({ url, patienceMs }: CountingServer) =>
  new S3Client({
    endpoint: url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    maxAttempts: 3,
    requestHandler: { requestTimeout: patienceMs, throwOnRequestTimeout: true },
  });
const put = (client: S3Client) =>
  client.send(new PutObjectCommand({ Bucket: "b", Key: "k", Body: "x" }));

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it("one command is one request, and says so", async () => {
    const hf = openHoldfire();
    const server = await serve(failure);
    await expect(put(ownRetries(clientOf(server), hf))).rejects.toThrow();
    expect(server.arrivals.map(({ headers }) => headers["amz-sdk-request"])).toEqual([
      "attempt=1; max=1",
    ]);
  });

  it("a tool at three attempts is three requests", async () => {
    const hf = openHoldfire();
    const server = await serve(failure);
    const s3 = ownRetries(clientOf(server), hf);
    await fire(hf, 3, () => put(s3)).catch(() => {});
    expect(server.arrivals).toHaveLength(3);
  });
});

it("without being owned it sends again", async () => {
  expect(await count("503", (server) => put(clientOf(server)))).toBe(3);
});

it("the error is the service's own, and a success comes through", async () => {
  const hf = openHoldfire();
  const server = await serve((response, _, nth) =>
    nth === 1 ? response.writeHead(503).end() : response.writeHead(200, { etag: `"e"` }).end(),
  );
  const s3 = clientOf(server);
  expect(ownRetries(s3, hf)).toBe(s3);
  await expect(put(s3)).rejects.toMatchObject({ $metadata: { httpStatusCode: 503, attempts: 1 } });
  expect(await put(s3)).toMatchObject({ ETag: `"e"` });
});
