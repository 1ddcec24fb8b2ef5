// openai-go, as the other programs here: one line of JSON for each check.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

var ctx = context.Background()

func client(url, key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func hearth() openai.Client { return client(os.Getenv("HEARTH_URL"), os.Getenv("HEARTH_KEY")) }

func asked(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:     "default",
		Messages:  []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
		MaxTokens: openai.Int(200),
	}
}

func must(isSo bool, what string) error {
	if isSo {
		return nil
	}
	return errors.New(what)
}

func chat() error {
	asker := hearth()
	answer, err := asker.Chat.Completions.New(ctx, asked("Hello!"))
	if err != nil {
		return err
	}
	return must(answer.Choices[0].Message.Content != "", "no text")
}

func stream() error {
	asker := hearth()
	events := asker.Chat.Completions.NewStreaming(ctx, asked("Hello!"))
	text := ""
	for events.Next() {
		for _, choice := range events.Current().Choices {
			text += choice.Delta.Content
		}
	}
	if events.Err() != nil {
		return events.Err()
	}
	return must(text != "", "no text")
}

func object(properties map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func tools() error {
	params := asked("Hello!")
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name:       "weather",
		Parameters: object(map[string]any{"city": map[string]any{"enum": []string{"Paris", "Rome"}}}, "city"),
	})}
	params.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")}
	asker := hearth()
	answer, err := asker.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	calls := answer.Choices[0].Message.ToolCalls
	return must(len(calls) > 0 && strings.Contains(calls[0].Function.Arguments, "city"), "no call")
}

func structured() error {
	params := asked("Hello!")
	properties := map[string]any{"colour": map[string]any{"enum": []string{"red", "green", "blue"}}, "sure": map[string]any{"type": "boolean"}}
	params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
		OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "choice", Schema: object(properties, "colour", "sure"), Strict: openai.Bool(true),
			},
		},
	}
	asker := hearth()
	answer, err := asker.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	var choice struct {
		Colour string
		Sure   *bool
	}
	if err := json.Unmarshal([]byte(answer.Choices[0].Message.Content), &choice); err != nil {
		return err
	}
	return must(choice.Sure != nil, "not sure")
}

func embeddings() error {
	asker := hearth()
	made, err := asker.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: "default-embedding",
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two"}},
	})
	if err != nil {
		return err
	}
	return must(len(made.Data) == 2 && len(made.Data[1].Embedding) == 768, "no vectors of 768 numbers")
}

func refused(asker openai.Client, status int, code, words, text string, change func(*openai.ChatCompletionNewParams)) error {
	params := asked(text)
	change(&params)
	_, err := asker.Chat.Completions.New(ctx, params)
	var failure *openai.Error
	if !errors.As(err, &failure) {
		return fmt.Errorf("not an error of the API: %v", err)
	}
	if failure.StatusCode != status || failure.Code != code || !strings.Contains(strings.ToLower(failure.Message), words) {
		return fmt.Errorf("status %d, code %s, text %s", failure.StatusCode, failure.Code, failure.Message)
	}
	return nil
}

func same(*openai.ChatCompletionNewParams) {}

func main() {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == "github.com/openai/openai-go/v3" {
				fmt.Printf("{\"version\": %q}\n", strings.TrimPrefix(dependency.Version, "v"))
			}
		}
	}
	url, busy := os.Getenv("HEARTH_URL"), os.Getenv("HEARTH_BUSY_URL")
	run("chat", chat)
	run("stream", stream)
	run("tools", tools)
	run("structured", structured)
	run("embeddings", embeddings)
	run("404", func() error {
		return refused(hearth(), 404, "model_not_found", "nobody", "Hello!", func(params *openai.ChatCompletionNewParams) {
			params.Model = "nobody"
		})
	})
	run("400", func() error {
		return refused(hearth(), 400, "invalid_request", "temperature", "Hello!", func(params *openai.ChatCompletionNewParams) {
			params.Temperature = openai.Float(-1)
		})
	})
	run("401", func() error { return refused(client(url, "wrong"), 401, "unauthorized", "key", "Hello!", same) })
	if busy != "" {
		run("429", func() error { return refused(client(busy, "any"), 429, "queue_full", "wait", "Hello!", same) })
	}
	run("overflow", func() error {
		return refused(hearth(), 400, "context_length_exceeded", "context size", strings.Repeat("word ", 400_000), same)
	})
}

func run(name string, check func() error) {
	line := map[string]any{"check": name, "ok": true}
	if err := check(); err != nil {
		line["ok"] = false
		line["detail"] = fmt.Sprintf("%.300s", err.Error())
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}
