// Shows the document that this service describes itself with.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  supportedSubmitMethods: ["get", "head"],
  validatorUrl: null, // asks nobody else
});
